import { Writable } from 'node:stream'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

export type { Logger } from 'pino'

/** Members of logged objects that could contain a credential. They are omitted. */
const SECRETS = ['authorization', 'cookie', 'token', 'password', 'key', 'qrcode']

/** Errors of a Redis client contain the failed command with its arguments, which may include the password. */
const COMMANDS = ['err.command', '*.err.command']

const REDACTED = [...SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), ...COMMANDS]

/**
 * Makes a logger that writes JSON lines to standard error. Standard output is for people. On a terminal, lines are
 * readable.
 */
export function createLogger(level: string, destination: DestinationStream = standardError()): Logger {
  const options: LoggerOptions = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: REDACTED, remove: true },
  }
  return pino(options, destination)
}

function standardError(): DestinationStream {
  return process.stderr.isTTY ? readable(process.stderr) : pino.destination({ dest: 2, sync: true })
}

function readable(terminal: Writable): DestinationStream {
  return new Writable({
    write(line: Buffer, _encoding, done) {
      terminal.write(`${readableLine(line.toString())}\n`)
      done()
    },
  })
}

/** `14:06:26 info  message key=value ...` */
function readableLine(json: string): string {
  const { time, level, pid: _, msg = '', err, ...rest } = JSON.parse(json) as Record<string, unknown>
  const label = pino.levels.labels[Number(level)] ?? String(level)
  const facts = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  const stack = (err as { stack?: string } | undefined)?.stack
  const text = [String(time).slice(11, 19), label.padEnd(5), String(msg), ...facts].join(' ')
  return stack === undefined ? text : `${text}\n${stack}`
}
