import type { World } from './run-client.ts'

/** The terminal: results on standard output, everything else on standard error. */
export function terminal({ stdout, stderr, env }: NodeJS.Process): World {
  let isMidLine = false
  const endLine = (): void => {
    if (isMidLine) stderr.write('\n')
    isMidLine = false
  }
  return {
    env,
    print(line) {
      endLine()
      stdout.write(`${line}\n`)
    },
    note(line) {
      endLine()
      stderr.write(`${line}\n`)
    },
    progress(text) {
      // A file gets lines, a terminal one line that changes.
      stderr.write(stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
      isMidLine = stderr.isTTY
    },
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  }
}
