import { addToHead, type DraftFields, type Exchange, headIsText } from '@scoregw/quota/http'

/** `writeHead` as `@hono/node-server` calls it. */
type WriteHead = (status: number, headers?: Readonly<Record<string, unknown>>) => unknown

/** What is used of the response of Node's that a context of `@hono/node-server` carries. */
interface NodeOutgoing {
  writeHead: WriteHead
  readonly headersSent: boolean
}

/**
 * Has fields written with the head of Node's response, where the context has one: to set them on a `Response` makes the
 * server give up the plain head that it had, which costs more than a decision.
 *
 * @returns whether they will be
 */
export function tellNode(env: unknown, exchange: Exchange, fields: DraftFields): boolean {
  const outgoing = (env as { readonly outgoing?: Partial<NodeOutgoing> } | undefined)?.outgoing
  if (typeof outgoing?.writeHead !== 'function' || outgoing.headersSent !== false) return false
  const { watch } = exchange
  // Of two quotas the inner one tells first.
  if (watch instanceof NodeFields) watch.add(fields)
  else exchange.watch = new NodeFields(outgoing as NodeOutgoing, fields)
  return true
}

/** The fields of one response. */
class NodeFields {
  #fields: DraftFields

  constructor(outgoing: NodeOutgoing, fields: DraftFields) {
    this.#fields = fields
    const beneath = outgoing.writeHead
    const isText = headIsText(beneath)
    outgoing.writeHead = (status, headers) => {
      if (!isText || hasAny(headers)) return beneath.call(outgoing, status, this.#with(headers))
      const written = beneath.call(outgoing, status, headers)
      addToHead(outgoing, this.#fields)
      return written
    }
  }

  add({ policy, limit }: DraftFields): void {
    this.#fields = { policy: `${this.#fields.policy}, ${policy}`, limit: `${this.#fields.limit}, ${limit}` }
  }

  /** A copy, as the fields may be an object of the application's; lists of others stay, with ours behind them. */
  #with(headers: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
    let { policy, limit } = this.#fields
    const all: Record<string, unknown> = {}
    for (const name in headers) {
      const value = headers[name]
      if (isPolicy(name)) policy = `${value}, ${policy}`
      else if (isLimit(name)) limit = `${value}, ${limit}`
      else all[name] = value
    }
    all['RateLimit-Policy'] = policy
    all.RateLimit = limit
    return all
  }
}

/** Whether ours cannot just be added: there is a list of others, or `Expect`, with which Node sends a head at once. */
function hasAny(headers: Readonly<Record<string, unknown>> | undefined): boolean {
  for (const name in headers) if (isPolicy(name) || isLimit(name) || isExpect(name)) return true
  return false
}

function isPolicy(name: string): boolean {
  return name.length === 16 && name.toLowerCase() === 'ratelimit-policy'
}

function isLimit(name: string): boolean {
  return name.length === 9 && name.toLowerCase() === 'ratelimit'
}

function isExpect(name: string): boolean {
  return name.length === 6 && name.toLowerCase() === 'expect'
}
