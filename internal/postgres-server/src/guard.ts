import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Removes a server and its folder on request, or when this process has ended. */
export interface Guard {
  /** From now on the server is this process; none for `undefined`. */
  watch(pid: number | undefined): void
  /** Resolves when everything is gone. */
  finish(): Promise<void>
}

// A shell that waits for the end of its standard input, so at the latest for the end of this process. SIGQUIT makes
// the server end at once and give back its shared memory, for which the machine has few places; `postmaster.pid` goes
// last. A server that was killed has left that file and the memory: its seventh line names the segment.
const SCRIPT = `
  while read -r line; do pid=$line; done
  file=$1/data/postmaster.pid
  if [ -n "$pid" ]; then
    kill -QUIT "$pid"
    kill -CONT $(cat "/proc/$pid/task/$pid/children") "$pid"
    tries=0
    while [ -e "$file" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -KILL "$pid"
  fi
  memory=$(sed -n '7s/^ *[0-9]* *//p' "$file")
  [ -z "$memory" ] || ipcrm -m "$memory"
  rm -rf "$1"
`

/** `folder` holds the data folder `data`, and may be empty as yet. */
export function startGuard(folder: string): Guard {
  const guard = spawn('sh', ['-c', SCRIPT, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.unref()
  const gone = once(guard, 'close')
  return {
    watch(pid) {
      // A server that could not be started may report its end after the guard has ended.
      if (!guard.stdin.writableEnded) guard.stdin.write(`${pid ?? ''}\n`)
    },
    async finish() {
      guard.ref()
      guard.stdin.end()
      await gone
    },
  }
}
