"""exits.py CODE COMMAND...: fails unless the command ends with the code, errors on standard error, nothing on standard output."""

import subprocess
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
done = subprocess.run(command, capture_output=True, text=True)
sys.stderr.write(done.stderr)
if done.returncode != wanted or done.stdout or not done.stderr:
    sys.exit(f"{command[0]} ended with {done.returncode} instead of {wanted}, and printed: {done.stdout or 'nothing'}")
