import type { DraftFields } from '../draft-texts.ts'

/** What Node keeps of a head that it has made, until the first bytes are sent. */
interface WithHead {
  _header?: unknown
  _headerSent?: unknown
}

/** Node's class of responses. */
interface ResponseClass {
  new (req: object): WithHead & { writeHead(status: number, headers: object): unknown }
  readonly prototype: { readonly writeHead: unknown }
}

/** The end of a head that is complete. */
const END = '\r\n\r\n'

/** Node's class, where this is Node and its heads are texts that may be added to; `null`: it is not, or they are not. */
let known: ResponseClass | null | undefined

/**
 * Whether Node itself makes the head of a response, a text that {@link addToHead} can add to. Node looks at each byte of
 * a field's value once more, which of fields made of numbers and of names that were checked long ago says nothing new,
 * and costs more than the decision that they tell of.
 *
 * @param writeHead what the response is written by: of a class derived from Node's, or where somebody wants to see what is
 * written, another one
 */
export function headIsText(writeHead: unknown): boolean {
  known ??= responseClass()
  return known !== null && writeHead === known.prototype.writeHead
}

/**
 * Adds fields to a head that {@link headIsText}, after it was made and before it is sent. Whether they are there already is
 * not looked at.
 */
export function addToHead(res: object, { policy, limit }: DraftFields): void {
  const { _header: head, _headerSent: isSent } = res as WithHead
  if (typeof head !== 'string' || isSent !== false) return
  if (policy !== lastPolicy) {
    lastPolicy = policy
    lastLead = `RateLimit-Policy: ${policy}\r\nRateLimit: `
  }
  ;(res as WithHead)._header = head.slice(0, -2) + lastLead + limit + END
}

/** The policy told last, and what stands before the limit then: most responses of a process tell the same. */
let lastPolicy: string | undefined
let lastLead = ''

/** Asked for when it is needed, and of the process: nothing here imports a module of Node's. */
function responseClass(): ResponseClass | null {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } }
  const http = process?.getBuiltinModule?.('node:http') as { readonly ServerResponse?: ResponseClass } | undefined
  const found = http?.ServerResponse
  return found !== undefined && makesTexts(found) ? found : null
}

/** Tried once, as nothing promises it. */
function makesTexts(Response: ResponseClass): boolean {
  try {
    const tried = new Response({ method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 })
    tried.writeHead(200, { Tried: 'yes' })
    addToHead(tried, { policy: 'p', limit: 'l' })
    const { _header: head } = tried
    return typeof head === 'string' && /^HTTP\/1\.1 200 OK\r\nTried: yes\r\n(\S.*\r\n)*RateLimit: l\r\n\r\n$/.test(head)
  } catch {
    return false
  }
}
