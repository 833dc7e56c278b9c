import type { IncomingMessage } from 'node:http'

/** Most credentials that are known by heart. */
const MAX_KNOWN = 10_000

/**
 * In which line a request waits before it is known whose it is: a credential that was valid when it was last looked at has
 * a line of its own, and all others of one address share one, so that callers cannot invent lines.
 */
export class Lines {
  readonly #known = new Set<string>()

  of(req: IncomingMessage): string {
    const credential = credentialOf(req)
    if (credential !== undefined && this.#known.has(credential)) return credential
    return `address ${req.socket.remoteAddress ?? ''}`
  }

  /** The request's credential is valid. */
  welcome(req: IncomingMessage): void {
    const credential = credentialOf(req)
    if (credential === undefined || this.#known.has(credential)) return
    for (const oldest of this.#known) {
      if (this.#known.size < MAX_KNOWN) break
      this.#known.delete(oldest)
    }
    this.#known.add(credential)
  }
}

function credentialOf({ headers }: IncomingMessage): string | undefined {
  const credential = headers.authorization ?? headers['bot-token'] ?? headers['x-api-key']
  return typeof credential === 'string' ? credential : undefined
}

/** Those of this process. */
export const lines: Lines = new Lines()
