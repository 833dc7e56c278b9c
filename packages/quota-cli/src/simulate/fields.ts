import { type Mapping, namedFields } from './mapping.ts'

/** A log line, by field name. */
export type LogRecord = Readonly<Record<string, unknown>>

/** The fields parsed from a log line. */
type FieldName = 'time' | 'subject' | 'operation' | 'plan' | 'method' | 'path' | 'request' | 'status'

/** The usual names of each field. The first one in the line counts. */
const USUAL_NAMES: Readonly<Record<FieldName, readonly string[]>> = {
  time: ['time', 'timestamp', '@timestamp', 'ts', 'date', 'datetime', 'time_local', 'time_iso8601', 'start_time'],
  subject: [
    ...['subject', 'user', 'userId', 'user_id', 'username', 'remote_user', 'sub', 'apiKey', 'api_key', 'key', 'client'],
    ...['ip', 'clientIp', 'client_ip', 'remote_addr', 'remoteAddress', 'remote_ip', 'host'],
  ],
  operation: ['operation', 'op'],
  plan: ['plan'],
  method: ['method', 'request_method', 'req.method', 'verb', 'http.method'],
  path: ['path', 'url', 'uri', 'request_uri', 'req.url', 'http.target'],
  request: ['request'],
  status: ['status', 'statusCode', 'status_code', 'res.statusCode', 'http.status_code', 'response_status'],
}

/**
 * The usual names of the cost if policies count one unit. Amounts in several units have the units' names, or are inside
 * `cost`.
 */
const USUAL_COSTS = ['cost', 'tokens']

/** A field's name as written, and the same name as a nested path. */
type FieldPath = readonly [name: string, inside: readonly string[]]

/** Reads a field under its possible names. The first one in the line counts. */
class Field {
  readonly #names: readonly FieldPath[]

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => [name, name.split('.')])
  }

  /** The value; `undefined` if the line has none. */
  of(record: LogRecord): unknown {
    for (const path of this.#names) {
      const value = valueAt(record, path)
      if (!isNothing(value)) return value
    }
    return undefined
  }
}

/** Logs write `-`, `null` or an empty text for a missing value. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === '-'
}

/** The value under a name. Some loggers write `req.url` as a single name. */
function valueAt(record: LogRecord, [name, path]: FieldPath): unknown {
  return record[name] ?? (path.length === 1 ? undefined : inside(record, path))
}

function inside(record: LogRecord, path: readonly string[]): unknown {
  let value: unknown = record
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as LogRecord)[name]
  }
  return value
}

/** All fields of a mapping. */
export interface Fields extends Readonly<Record<FieldName, Field>> {
  /** The default subject. */
  readonly host: Field
  /** One field per layer, if the subject has a key for each. */
  readonly layers: readonly (readonly [layer: string, field: Field])[]
  /** The cost, or the amounts in the order of units. */
  readonly costs: readonly Field[]
}

/** @param units that the policies count */
export function fieldsOf(mapping: Mapping, units: readonly string[]): Fields {
  const field = (names: readonly string[]): Field => new Field(names)
  const named = (name: FieldName): Field => {
    const own = name === 'request' ? undefined : mapping[name]
    return field(own === undefined ? USUAL_NAMES[name] : [own])
  }
  return {
    time: named('time'),
    subject: named('subject'),
    operation: named('operation'),
    plan: named('plan'),
    method: named('method'),
    path: named('path'),
    request: named('request'),
    status: named('status'),
    host: field(['host']),
    layers: namedFields(mapping.subject).map(([layer, name]) => [layer, field([name])]),
    costs: units.map((unit) => field(costNames(mapping, unit, units.length === 1))),
  }
}

function costNames({ cost }: Mapping, unit: string, isOnly: boolean): readonly string[] {
  const given = namedFields(cost).find(([name]) => name === unit)
  if (given !== undefined) return [given[1]]
  if (!isOnly) return [`cost.${unit}`, unit]
  return cost === undefined ? USUAL_COSTS : [cost]
}
