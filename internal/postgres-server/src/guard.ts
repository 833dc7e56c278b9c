import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Removes a server and its folder on request, or when this process has ended. */
export interface Guard {
  /** Watches this server process from now on; `undefined` for none. */
  watch(pid: number | undefined): void
  /** Resolves when everything is removed. */
  finish(): Promise<void>
}

// A shell that waits for the end of its standard input, which comes at the latest when this process ends. SIGQUIT ends
// the server immediately and releases its shared memory, of which the machine has few segments. `postmaster.pid` is
// removed last. A killed server leaves that file and the memory behind; the file's seventh line names the segment.
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

/** `folder` contains the data folder `data`, and may still be empty. */
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
