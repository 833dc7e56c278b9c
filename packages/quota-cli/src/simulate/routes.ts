import { usageError } from '../cli-error.ts'
import { plain } from '../text.ts'

/** Matches requests, and names their operation. */
interface Route {
  readonly method: string
  readonly path: RegExp
  /** `undefined` if they are not metered. */
  readonly operation: string | undefined
}

/** The operation of a request by method and path; or not metered; or unknown. */
export type Routed = { readonly operation: string | undefined } | undefined

const ROUTE = /^(?<method>\*|[A-Za-z]{1,16}) +(?<path>\/\S*|\*) *(?:=|->| ) *(?<operation>[A-Za-z0-9_.:-]{1,64})$/

/** The most routes of a simulation. */
const MAX_ROUTES = 1_000

/** Routes in order. The first match decides. */
export class Routes {
  readonly #routes: readonly Route[]

  /**
   * @param written `GET /v1/* = read`. `*` matches any method or any text; `-` as the operation means not metered
   * @throws {CliError} `usage`
   */
  constructor(written: readonly string[]) {
    if (written.length > MAX_ROUTES) throw usageError(`more than ${MAX_ROUTES} routes`)
    this.#routes = written.map(routeOf)
  }

  get isEmpty(): boolean {
    return this.#routes.length === 0
  }

  /** The operations that the routes name. */
  get operations(): string[] {
    return this.#routes.flatMap(({ operation }) => operation ?? [])
  }

  of(method: string, path: string): Routed {
    const found = this.#routes.find((route) => fits(route, method, path))
    return found && { operation: found.operation }
  }
}

function fits(route: Route, method: string, path: string): boolean {
  return (route.method === '*' || route.method === method) && route.path.test(path)
}

function routeOf(written: string): Route {
  const { groups } = ROUTE.exec(written.trim()) ?? {}
  if (groups === undefined) {
    const remedy = 'write it as "GET /v1/* = read", or "GET /health = -" for requests that are not metered'
    throw usageError(`not a route: ${plain(written, 100)}`, remedy)
  }
  const { method = '', path = '', operation = '' } = groups
  const parts = path.split('*').map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'))
  return {
    method: method.toUpperCase(),
    path: new RegExp(`^${parts.join('.*')}$`),
    operation: operation === '-' ? undefined : operation,
  }
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Without routes: a policy's only operation, or its `read` and `write` by the method. */
export function usualOperation(operations: readonly string[], method: string | undefined): string | undefined {
  if (operations.length === 1) return operations[0]
  if (method === undefined) return undefined
  const usual = READING.has(method) ? 'read' : 'write'
  return operations.includes(usual) ? usual : undefined
}
