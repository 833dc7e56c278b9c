import type { LogRecord } from './common-log.ts'

/** What is read of a line. */
export type FieldName = 'time' | 'subject' | 'operation' | 'cost' | 'plan' | 'method' | 'path' | 'request' | 'status'

/** What a field may be called; the first name that a line has is taken. */
export const USUAL_NAMES: Readonly<Record<FieldName, readonly string[]>> = {
  time: ['time', 'timestamp', '@timestamp', 'ts', 'date', 'datetime', 'time_local', 'time_iso8601', 'start_time'],
  subject: [
    ...['subject', 'user', 'userId', 'user_id', 'username', 'remote_user', 'sub', 'apiKey', 'api_key', 'key', 'client'],
    ...['ip', 'clientIp', 'client_ip', 'remote_addr', 'remoteAddress', 'remote_ip', 'host'],
  ],
  operation: ['operation', 'op'],
  cost: ['cost', 'tokens'],
  plan: ['plan'],
  method: ['method', 'request_method', 'req.method', 'verb', 'http.method'],
  path: ['path', 'url', 'uri', 'request_uri', 'req.url', 'http.target'],
  request: ['request'],
  status: ['status', 'statusCode', 'status_code', 'res.statusCode', 'http.status_code', 'response_status'],
}

/** Looks a field up under its names: the first that the line has. */
export class Field {
  readonly #names: readonly (readonly [name: string, path: readonly string[]])[]

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => [name, name.split('.')])
  }

  /** `undefined` where the line has none; `-`, `null` and the empty text are what logs write for nothing. */
  of(record: LogRecord): unknown {
    for (const [name, path] of this.#names) {
      // Some loggers write `req.url` as one name.
      const value = record[name] ?? (path.length === 1 ? undefined : inside(record, path))
      if (value !== undefined && value !== null && value !== '' && value !== '-') return value
    }
    return undefined
  }
}

function inside(record: LogRecord, path: readonly string[]): unknown {
  let value: unknown = record
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as LogRecord)[name]
  }
  return value
}
