/**
 * A client as the public has them: it knows the two services by their public documentation, by their addresses and by a
 * credential each, and by nothing of this project.
 */

type Json = ReturnType<typeof JSON.parse>

export interface PublicClientOptions {
  readonly gatewayUrl: string
  readonly gatewayToken: string
  readonly syncUrl: string
  readonly botToken: string
  /** Resolves after that many seconds. */
  wait(seconds: number): Promise<void>
}

interface Heard {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

const MAX_TRIES = 8
const CHUNK = 1_000

/** What such a client looks at. */
interface SyncAnswer {
  readonly status: string
  readonly stored_records: number
}

/** The message of a refusal to the player. */
export interface PublicRefusal {
  readonly text: string
  readonly seconds: number
  readonly retryAt: string
}

/** A refusal that the client shows and does not wait for by itself. */
export class PublicQuotaError extends Error {
  readonly refusal: PublicRefusal

  constructor(refusal: PublicRefusal) {
    super(refusal.text)
    this.refusal = refusal
  }
}

/** Words that such a client has for windows; for others it takes the label. */
const WINDOW_WORDS: Readonly<Record<string, string>> = { '1h': 'an hour' }

export class PublicClient {
  readonly #options: PublicClientOptions
  /** One player's writes go one after the other. */
  readonly #writes = new Map<number, Promise<unknown>>()
  #snapshots = 0
  readonly waits: number[] = []
  unknowns = 0

  constructor(options: PublicClientOptions) {
    this.#options = options
  }

  /** Brings everything of a player, in chunks of one snapshot; gives what the last answer said. */
  async syncPlayer(
    player: { readonly qq: number; readonly records: readonly object[] } & object,
  ): Promise<SyncAnswer | undefined> {
    const { qq, records, ...facts } = player
    const before = this.#writes.get(qq) ?? Promise.resolve()
    const work = before.then(async () => {
      const snapshot_id = `snapshot-${qq}-${++this.#snapshots}`
      let last: SyncAnswer | undefined
      for (let start = 0; start === 0 || start < records.length; start += CHUNK) {
        const chunk = records.slice(start, start + CHUNK)
        const snapshot_final = start + CHUNK >= records.length
        last = await this.#sync({ ...facts, qq, snapshot_id, full_snapshot: true, snapshot_final, records: chunk })
        if (chunk.length > 0 && last.stored_records === 0) throw new Error('refused: nothing is stored')
      }
      return last
    })
    this.#writes.set(
      qq,
      work.catch(() => undefined),
    )
    return work
  }

  async player(qq: number, part = ''): Promise<Json> {
    const { body } = await this.#ask('GET', `${this.#options.syncUrl}/api/bot/player/${qq}${part}`, this.#bot())
    return body
  }

  /** Asks the gateway; what the answer carries, in `businessData` or in `msg`. */
  async gateway(method: string, path: string, body?: object): Promise<Json> {
    const headers = { Authorization: `Bearer ${this.#options.gatewayToken}` }
    // Logged in by a code that others would want.
    const sent = body && { qrcode: 'SGWCMAID-public-client', ...body }
    const heard = await this.#ask(method, `${this.#options.gatewayUrl}${path}`, headers, sent)
    if (heard.status === 429) throw new PublicQuotaError(refusalOf(heard.body))
    const { returnCode, code, msg, returnMessage, businessData } = heard.body
    if (heard.status !== 200 || returnCode !== 1)
      throw new Error(`refused with ${heard.status}: ${returnMessage ?? msg}`)
    if (code !== 0 || returnMessage !== msg) throw new Error('an envelope that cannot be read')
    return businessData ?? msg
  }

  async #sync(body: object): Promise<SyncAnswer> {
    for (let tries = 1; ; tries++) {
      const heard = await this.#ask('POST', `${this.#options.syncUrl}/api/bot/sync`, this.#bot(), body)
      if (heard.status === 200) return heard.body
      if (heard.status !== 429 || tries === MAX_TRIES)
        throw new Error(`refused with ${heard.status}: ${heard.body.detail}`)
      await this.#patience(heard)
    }
  }

  /** The identical request again after 503, by its field, and after no answer: nobody knows what became of that one. */
  async #ask(method: string, url: string, headers: Record<string, string>, body?: object): Promise<Heard> {
    const request = {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    for (let tries = 1; ; tries++) {
      const heard = await heardOf(fetch(url, request))
      if (heard !== undefined && heard.status !== 503) return heard
      if (tries === MAX_TRIES) throw new Error('gave up')
      if (heard === undefined) this.unknowns++
      else await this.#patience(heard)
    }
  }

  async #patience({ headers }: Heard): Promise<void> {
    const seconds = Number(headers.get('Retry-After'))
    if (!(seconds >= 1)) throw new Error('no Retry-After')
    this.waits.push(seconds)
    await this.#options.wait(seconds)
  }

  #bot(): Record<string, string> {
    return { 'Bot-Token': this.#options.botToken }
  }
}

async function heardOf(asked: Promise<Response>): Promise<Heard | undefined> {
  try {
    const response = await asked
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
  } catch {
    return undefined
  }
}

function refusalOf({ error, msg, retryAfterSeconds: seconds, quota }: Json): PublicRefusal {
  if (error !== 'quota_exceeded') throw new Error(`a 429 that is no quota's: ${error}`)
  const { scope, category, window, windowLabel, limit, used, requested, resetAt, retryAt } = quota
  const span = WINDOW_WORDS[window] ?? windowLabel
  if (retryAt !== resetAt) throw new Error('two times')
  return { text: `${msg} [${scope}/${category}/${span}: ${used}+${requested}>${limit}]`, seconds, retryAt }
}
