"""Installs what was built into an empty place and uses it there: tools, plug-in, CMake package, Debian packages.

    install_test.py BUILD SOURCE VERSION
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

build, source, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
job = source / "examples" / "null-1f1b" / "job.yaml"


def run(*command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(what, holds):
    if not holds:
        sys.exit(f"not so: {what}")
    print(f"  {what}")


def use(prefix, folder):
    """Compiles a job and runs it over threads and over processes, which needs the plug-in."""
    plan = folder / "plan.bin"
    check("vimec says its version", run(prefix / "bin/vimec", "--version") == f"vimec {version}\n")
    check("vime-exec says its version", run(prefix / "bin/vime-exec", "--version") == f"vime-exec {version}\n")
    run(prefix / "bin/vimec", job, "-o", plan, "--set", "run.steps=2")
    for transport in ("local", "gloo"):
        out = run(prefix / "bin/vime-exec", plan, "--base", job.parent, "--transport", transport)
        check(f"two steps over {transport}", out.startswith("null-1f1b: 2 steps in "))
    for page in ("man/man1/vimec.1", "man/man1/vime-exec.1", "man/man5/vime-job.5", "vime/job.schema.json",
                 "bash-completion/completions/vimec"):
        check(page, (prefix / "share" / page).stat().st_size > 500)
    return plan


def consume(prefix, plan, folder):
    """Builds somebody else's program against the installed package alone."""
    shutil.copytree(source / "tests/Install/consumer", folder / "consumer")
    run("cmake", "-S", folder / "consumer", "-B", folder / "out", f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", folder / "out")
    check("a program that links vime::runtime runs the plan",
          run(folder / "out/consumer", plan, job.parent) == "2 steps, \n")


def package(folder):
    """Both packages; the tools run from where they are unpacked."""
    run("cpack", "-G", "DEB", "-B", folder / "packages", cwd=build)
    packages = {path.name.split("_")[0]: path for path in (folder / "packages").glob("*.deb")}
    check("packages vime and libvime-dev", sorted(packages) == ["libvime-dev", "vime"])
    fields = run("dpkg-deb", "-f", packages["vime"], "Version", "Depends")
    check("the version of the package", f"Version: {version}\n" in fields)
    for library in ("libmlir-19", "libyaml-cpp", "libfmt9", "libgloo0", "libcurl4", "libxxhash0"):
        check(f"depends on {library}", library in fields)
    root = folder / "root"
    for path in packages.values():
        run("dpkg", "-x", path, root)
    use(root / "usr", folder)
    check("headers and libraries of the package",
          (root / "usr/include/vime/runtime/Plan/Plan.h").exists() and list((root / "usr/lib/vime").glob("*.a")))


with tempfile.TemporaryDirectory(prefix="vime-install-") as name:
    folder = pathlib.Path(name)
    prefix = folder / "prefix"
    run("cmake", "--install", build, "--prefix", prefix)
    plan = use(prefix, folder)
    consume(prefix, plan, folder)
    package(folder)
