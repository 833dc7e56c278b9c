import { QuotaError } from '@scoregw/quota'
import { errorText } from '@scoregw/quota/internal'
import type { Deadline } from '@scoregw/quota/store'
import { type Reply, textOf, type Word } from '../connection/connection.ts'
import { storeError } from '../connection/errors.ts'
import { type Script, scriptOf } from '../lua/script.ts'
import byRest from './lua/by-rest.lua'
import type { ParsedRestOptions } from './options.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, clearTimeout } = globalThis

/** Errors of `fetch` which mean that nothing was sent. */
const NOT_SENT: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']
/** The largest answer that is read, in characters. */
const MAX_ANSWER = 8 * 1024 * 1024
const MAX_ERROR_TEXT = 300

/**
 * A Redis that is called over HTTP, in Upstash's protocol: one POST per command. No command is sent twice. The server's
 * errors reject as `ReplyError`. A command that was not sent rejects as `store_error`. With any other error the outcome
 * is unknown.
 */
export class RestRedis {
  readonly usable: boolean = true
  readonly opening: undefined
  readonly sharesNothing: boolean
  readonly #options: ParsedRestOptions
  readonly #changes: string
  readonly #onChanges: (last: string) => void
  readonly #scripts = new WeakMap<Script, Script>()
  readonly #inFlight = new Set<AbortController>()
  #calls = 0
  #isClosed = false

  /** @param onChanges receives the value of the key `changes` with each answer; `''` if there is none */
  constructor(options: ParsedRestOptions, changes: string, onChanges: (last: string) => void) {
    this.sharesNothing = !options.batch
    this.#options = options
    this.#changes = changes
    this.#onChanges = onChanges
  }

  get server(): this {
    return this
  }

  async ready(): Promise<void> {
    if (this.#isClosed) throw storeError('this Redis store was closed')
  }

  close(): void {
    this.#isClosed = true
    for (const abort of this.#inFlight) abort.abort()
  }

  /** @param deadline of the call. Nothing is sent after it. Without one, a default deadline applies */
  async evaluate(script: Script, args: readonly Word[], deadline?: Deadline): Promise<Reply> {
    const { text, sha } = this.#scriptByRest(script)
    const keys = Number(args[0])
    const tag = `${this.#calls++}.${Math.random()}`
    const words = [keys + 1, ...args.slice(1, keys + 1), this.#changes, ...args.slice(keys + 1), tag]
    // The server knows the script already, except before the very first call.
    const reply = await this.#post(['EVALSHA', sha, ...words], deadline).catch((error: Error) => {
      if (error.name !== 'ReplyError' || !error.message.includes('NOSCRIPT') || deadline?.isOver) throw error
      return this.#post(['EVAL', text, ...words], deadline)
    })
    const [tagOfReply, last, result = null] = Array.isArray(reply) ? (reply as readonly Reply[]) : []
    if (textOf(tagOfReply) !== tag) throw new Error('the reply belongs to another call')
    this.#onChanges(textOf(last) ?? '')
    return result
  }

  send(...words: readonly Word[]): Promise<Reply> {
    return this.#post(words, undefined)
  }

  async #post(words: readonly Word[], deadline: Deadline | undefined): Promise<Reply> {
    await this.ready()
    const { url, token, fetch = globalThis.fetch, deadlineMs } = this.#options
    const abort = new AbortController()
    // A late answer shows what to refund, unless nothing may continue after the deadline.
    const timer = setTimeout(() => abort.abort(), deadline === undefined ? deadlineMs : 2 * deadlineMs)
    if (this.sharesNothing) void deadline?.settled.then(() => abort.abort())
    else this.#inFlight.add(abort)
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'upstash-encoding': 'base64' },
        body: JSON.stringify(words.map(asJson)),
        // Some redirects would send the command again.
        redirect: 'manual',
        signal: abort.signal,
      })
      return replyOf(response.status, await textIn(response))
    } catch (error) {
      throw this.#explained(error)
    } finally {
      clearTimeout(timer)
      this.#inFlight.delete(abort)
    }
  }

  #scriptByRest(script: Script): Script {
    const known = this.#scripts.get(script) ?? scriptOf(byRest, { './script': script.text })
    this.#scripts.set(script, known)
    return known
  }

  /** Removes the token from an error, even where a server's text repeats it. */
  #explained(error: unknown): Error {
    const { name, cause } = error as Error
    const { code } = (cause ?? error) as { readonly code?: unknown }
    const text = errorText(cause ?? error).replaceAll(this.#options.token, '[token]')
    const message = text.slice(0, MAX_ERROR_TEXT)
    if (error instanceof QuotaError) return error
    if (NOT_SENT.includes(code)) return storeError(`Can't reach ${this.#options.url}: ${message}`)
    return Object.assign(new Error(message), { name })
  }
}

async function textIn({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_ANSWER) throw new Error(`the answer is longer than ${MAX_ANSWER} characters`)
  }
  return text
}

/** The server's answer to a command. With any other error it is unknown whether the command was carried out. */
function replyOf(status: number, text: string): Reply {
  const isOk = status >= 200 && status < 300
  if (!isOk && (status < 400 || status >= 500)) throw new Error(`HTTP ${status}`)
  const answer = parsed(text, isOk)
  if (typeof answer.error === 'string') throw refused(answer.error)
  if (!isOk) throw refused(`HTTP ${status}: check url and token`)
  if (answer.result === undefined) throw new Error('the answer has no result')
  return fromJson(answer.result)
}

function parsed(text: string, isOk: boolean): { readonly result?: unknown; readonly error?: unknown } {
  try {
    return Object(JSON.parse(text)) as { readonly result?: unknown; readonly error?: unknown }
  } catch (error) {
    if (isOk) throw error
    return {}
  }
}

function refused(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' })
}

// Words and replies as JSON -------------------------------------------------------------------------------------------

/** Marks bytes sent as text; `lua/by-rest.lua` converts them back. */
const MARK = '\x7f'

/** A word of a command as JSON. */
function asJson(word: Word): string {
  if (typeof word === 'string') return word.startsWith(MARK) ? asJson(Buffer.from(word)) : word
  if (typeof word === 'number') return String(word)
  // Most bytes are numbers, which are shorter as digits.
  const numbers = numbersIn(word)
  return numbers === undefined ? `${MARK}b${word.toString('latin1')}` : `${MARK}n${numbers.join(' ')}`
}

/** The bytes as doubles, if their digits give the same bytes again. */
function numbersIn(bytes: Buffer): number[] | undefined {
  if (bytes.length === 0 || bytes.length % 8 > 0) return undefined
  const numbers = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i))
  const isExact = (value: number) => Number.isSafeInteger(value) || Math.abs(value) === Number.POSITIVE_INFINITY
  return numbers.every((value) => isExact(value) && !Object.is(value, -0)) ? numbers : undefined
}

/** A reply as `upstash-encoding: base64` encodes it. */
function fromJson(result: unknown): Reply {
  if (typeof result === 'string') return Buffer.from(result, 'base64')
  return Array.isArray(result) ? result.map(fromJson) : (result as number | null)
}
