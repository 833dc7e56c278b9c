/**
 * Operations of the suite's policy. `look` reads for 1 token, `save` writes for 5, `huge` for 11, `free` for none.
 * `chat` writes for 5, and up to 20 more when its cost is known. `work` writes for 5 and needs a slot.
 */
export type HttpOperation = 'look' | 'save' | 'huge' | 'free' | 'chat' | 'work'

/** The script of a handler, as data. */
export interface HttpReply {
  /** @default 200 */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The complete body. */
  readonly body?: string
  /** Chunks to stream instead of a body. Steps of the middle run after the first chunk. */
  readonly chunks?: readonly string[]
  /** Fails instead: throws immediately (`now`), rejects (`later`), or breaks its stream (`middle`). */
  readonly fails?: 'now' | 'later' | 'middle'
  /** Adds this cost before it settles. */
  readonly adds?: number
  /** Settles in the handler, without awaiting it. */
  readonly settles?: { readonly commit: number } | 'cancel'
  /** @default before it responds */
  readonly settlesIn?: 'middle'
  /** Waits before it responds, or in mid-stream: for the gate, for the caller to disconnect, or for both in turn. */
  readonly waits?: { readonly for: 'gate' | 'gone' | 'gone, then gate'; readonly in?: 'middle' }
}

/** Options of a single route. */
export interface HttpRouteSettings {
  readonly cost?: number
  readonly settle?: 'outcome' | 'end' | 'failures' | 'charge-first'
  readonly abortGraceMs?: number
  readonly abortedAs?: 'commit' | 'cancel'
  readonly anonymous?: 'reject' | 'skip' | 'ip'
  readonly plan?: string
  readonly maxWaitMs?: number
}

/** What the application's own answer to a request does. */
export type HttpOwnAnswer = 'sends' | 'sends later' | 'throws' | 'rejects' | 'nothing' | 'nothing later'

/** How a function of the application fails: it throws, rejects, or returns a promise of what should be a value. */
export type HttpFailing = 'throws' | 'rejects' | 'later'

/** One route, for every method. */
export interface HttpRoute {
  readonly path: string
  /** The operation to charge. If absent, the route isn't metered. */
  readonly operation?: HttpOperation
  readonly settings?: HttpRouteSettings
  /** A second engine that also meters the route, after the first. */
  readonly second?: { readonly operation: HttpOperation; readonly settings?: HttpRouteSettings }
  /** `asked`: the reply is in the request's field `x-reply`, as JSON. */
  readonly reply: HttpReply | 'asked'
}

/** Options that all adapters share, as data. */
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

/** An app to serve. It is plain data, so that it can be sent to another process or runtime. */
export interface HttpScenario {
  /** Whether the store answers synchronously. */
  readonly store: 'now' | 'later'
  /** The write tokens of a user per hour. Default: 10 */
  readonly hourly?: number
  /** How many `work` operations a user may have in flight. Default: no limit */
  readonly slots?: number
  readonly settings?: HttpSettings
  /** The application's own answers, by option. See {@link HttpApp.ownAnswers}. */
  readonly ownAnswers?: Readonly<Partial<Record<'handler' | 'onUnauthenticated' | 'onUnavailable', HttpOwnAnswer>>>
  /** Which other functions of the application fail. */
  readonly failing?: Readonly<
    Partial<Record<'messages' | 'answers' | 'isFailure' | 'listeners' | 'logger', HttpFailing>>
  >
  /**
   * Whether something before the meter answers the requests in flight with 503 and the body `too slow`, at the command
   * `time-out`. See {@link HttpApp.timedOut}.
   */
  readonly timesOut?: boolean
  readonly routes: readonly HttpRoute[]
}

/** The path of control requests. {@link HttpApp.control} handles every request below it. */
export const CONTROL_PATH = '/-/'
