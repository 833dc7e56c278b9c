import type { Fields, LogRecord } from './fields.ts'
import { Routes, usualOperation } from './routes.ts'
import type { SkipReason } from './skipped.ts'

/** Finds the operation of a line, as an index into the operations' names. */
export class OperationOfLine {
  readonly #operations: readonly string[]
  readonly #routes: Routes
  readonly #fields: Fields
  readonly #placeOf: ReadonlyMap<string, number>

  /** @param routes see {@link Routes} */
  constructor(operations: readonly string[], routes: readonly string[], fields: Fields) {
    this.#operations = operations
    this.#routes = new Routes(routes)
    this.#fields = fields
    this.#placeOf = new Map(operations.map((name, place) => [name, place]))
  }

  /** Operations that routes name but no policy has. */
  get unknown(): string[] {
    return this.#routes.operations.filter((name) => !this.#placeOf.has(name))
  }

  of(line: LogRecord): number | 'unmetered' | SkipReason {
    const named = this.#fields.operation.of(line)
    if (named !== undefined) return this.#placeOf.get(String(named)) ?? 'unknown_operation'
    if (!this.#routes.isEmpty) return this.#routed(line)
    const method = textOf(this.#fields.method.of(line)) ?? this.#request(line)[0]
    const usual = usualOperation(this.#operations, method?.toUpperCase())
    return usual === undefined ? 'no_operation' : (this.#placeOf.get(usual) ?? 'unknown_operation')
  }

  #routed(line: LogRecord): number | 'unmetered' | SkipReason {
    const method = textOf(this.#fields.method.of(line))
    const path = textOf(this.#fields.path.of(line))
    const [ofRequest, pathOfRequest] = method === undefined || path === undefined ? this.#request(line) : NO_REQUEST
    const whole = path ?? pathOfRequest ?? ''
    const end = whole.search(/[?#]/)
    const routed = this.#routes.of((method ?? ofRequest ?? '').toUpperCase(), end === -1 ? whole : whole.slice(0, end))
    if (routed === undefined) return 'no_operation'
    return routed.operation === undefined ? 'unmetered' : (this.#placeOf.get(routed.operation) ?? 'unknown_operation')
  }

  /** The words of a request line such as `GET /v1 HTTP/1.1`. */
  #request(line: LogRecord): readonly string[] {
    return textOf(this.#fields.request.of(line))?.split(' ', 2) ?? NO_REQUEST
  }
}

const NO_REQUEST: readonly string[] = []

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
