import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'

/** The formats that logs are written in. */
export type LogFormat = 'ndjson' | 'common'

const START = Date.UTC(2026, 7, 3)
const USERS = 20_000
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** Writes a log of about a week: few users ask often, seven requests of ten read. The same in every run. */
export async function writeLog(path: string, format: LogFormat, lines: number): Promise<void> {
  const file = createWriteStream(path)
  const random = randomNumbers()
  let at = START
  for (let line = 0; line < lines; line++) {
    at += Math.floor(random() * 1_200)
    const user = `user${Math.floor(USERS * random() ** 3)}`
    const method = random() < 0.7 ? 'GET' : 'POST'
    const text = format === 'ndjson' ? jsonLine(at, user, method, line) : commonLine(at, user, method, line)
    if (!file.write(`${text}\n`)) await new Promise<void>((resolve) => file.once('drain', () => resolve()))
  }
  file.end()
  await finished(file)
}

function jsonLine(at: number, user: string, method: string, line: number): string {
  const time = new Date(at).toISOString()
  const path = `/v1/music/${line % 50}`
  return JSON.stringify({ time, user, method, path, status: 200, durationMs: line % 97, msg: 'request completed' })
}

function commonLine(at: number, user: string, method: string, line: number): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${two(date.getUTCDate())}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}`
  const request = `${method} /v1/music/${line % 50} HTTP/1.1`
  return `10.0.0.1 - ${user} [${day}:${date.toISOString().slice(11, 19)} +0000] "${request}" 200 512 "-" "curl/8.0"`
}

/** Numbers from 0 to 1 (Park and Miller), the same in every run. */
function randomNumbers(): () => number {
  let state = 20_260_803
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
