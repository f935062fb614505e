// A job as ops of the `job` dialect, and back.
#pragma once

#include <optional>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Job.h"
#include "dialects/Job/JobDialect.h"
#include "mlir/IR/OwningOpRef.h"

namespace vime {

/// A module with the job: one op per field, each located at its line of job.yaml.
mlir::OwningOpRef<mlir::ModuleOp> moduleFromJob(mlir::MLIRContext *context, const Job &job);

/// The job that the module states. Nothing, and findings, if it is no legal one; without any
/// `job.job`, an error of the module.
std::optional<Job> jobFromModule(mlir::ModuleOp module, Findings &findings);

/// Makes the module state this job instead of its own.
void replaceJob(mlir::ModuleOp module, const Job &job);

/// What the user calls the job; empty if the module states none.
std::string jobFileOf(mlir::ModuleOp module);

/// The place of a field of the job; unknown if the job does not have it.
mlir::Location locationOfField(mlir::ModuleOp module, std::string_view path);

} // namespace vime
