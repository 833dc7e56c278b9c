/**
 * Operations of the suite's policy: `look` 1 token of reading, `save` 5 of writing, `huge` 11, `free` none; `chat` 5 of
 * writing and up to 20 more when it is known what it cost, `work` 5 of writing and a slot.
 */
export type HttpOperation = 'look' | 'save' | 'huge' | 'free' | 'chat' | 'work'

/** What a handler does, as data. */
export interface HttpReply {
  /** @default 200 */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A body that is sent immediately. */
  readonly body?: string
  /** A stream of chunks in place of a body; what happens in its middle happens after the first. */
  readonly chunks?: readonly string[]
  /** Fails instead: by throwing immediately, by rejecting, or in the middle of its stream. */
  readonly fails?: 'now' | 'later' | 'middle'
  /** Asks for more tokens, before it settles. */
  readonly adds?: number
  /** Settles by itself, without waiting for it. */
  readonly settles?: { readonly commit: number } | 'cancel'
  /** @default before it answers */
  readonly settlesIn?: 'middle'
  /** Waits before it answers, or in the middle: for the gate, until its caller has gone, or for one after the other. */
  readonly waits?: { readonly for: 'gate' | 'gone' | 'gone, then gate'; readonly in?: 'middle' }
}

/** What one route may set for itself. */
export interface HttpRouteSettings {
  readonly cost?: number
  readonly settle?: 'outcome' | 'end' | 'failures' | 'charge-first'
  readonly abortGraceMs?: number
  readonly abortedAs?: 'commit' | 'cancel'
  readonly anonymous?: 'reject' | 'skip' | 'ip'
  readonly plan?: string
}

/** One route, for every method. */
export interface HttpRoute {
  readonly path: string
  /** What it is charged as; left out: it is not metered. */
  readonly operation?: HttpOperation
  readonly settings?: HttpRouteSettings
  /** Metered by the second engine too, after the first. */
  readonly second?: { readonly operation: HttpOperation; readonly settings?: HttpRouteSettings }
  /** `asked`: as the request's header field `x-reply` says, in JSON. */
  readonly reply: HttpReply | 'asked'
}

/** Options that are the same for every adapter, as data. */
export interface HttpSettings {
  readonly settle?: 'outcome' | 'end' | 'failures' | 'charge-first'
  readonly anonymous?: 'reject' | 'skip' | 'ip'
  readonly standardHeaders?: 'draft-10' | 'draft-11' | false
  readonly fields?: 'one' | 'all'
  readonly legacyHeaders?: boolean
  readonly problemDetails?: boolean
  readonly ipv6Subnet?: number
  readonly wwwAuthenticate?: string
  readonly locale?: 'en' | 'zh-CN'
  readonly messages?: { readonly en?: { readonly unauthorized?: string; readonly unavailable?: string } }
}

/** An app to serve: plain data, so that it may be sent to another process or runtime. */
export interface HttpScenario {
  /** Whether the store answers synchronously. */
  readonly store: 'now' | 'later'
  /** Tokens of writing that a user has in an hour. Default: 10 */
  readonly hourly?: number
  /** How much `work` a user may have in flight. Default: no limit */
  readonly slots?: number
  readonly settings?: HttpSettings
  readonly routes: readonly HttpRoute[]
}

/** Where the suite talks to the app itself; every request below it is {@link HttpApp.control}'s. */
export const CONTROL_PATH = '/-/'
