import { ANONYMOUS, type AnyStoreCase, type HttpCase, plays, withBothStores } from './http-case.ts'
import { saving, USED_UP } from './outcome-cases.ts'
import type { HttpFailing, HttpOwnAnswer, HttpScenario } from './scenario.ts'

type Option = keyof NonNullable<HttpScenario['ownAnswers']>

const STATUSES: Readonly<Record<Option, number>> = { handler: 429, onUnauthenticated: 401, onUnavailable: 503 }
const ERRORS = { 429: 'quota_exceeded', 401: 'unauthorized', 503: 'quota_unavailable' } as const

/** A request that one of the application's own answers answers, after two others. */
function asking(option: Option): { readonly headers?: Record<string, string[]> } {
  return option === 'onUnauthenticated' ? { headers: ANONYMOUS } : {}
}

function answering(option: Option, script: HttpOwnAnswer, name: string, due: object): AnyStoreCase {
  const scenario = { ...saving({}), ownAnswers: { [option]: script } }
  const away = option === 'onUnavailable' ? ['store?takes=away'] : []
  const steps = [...USED_UP, ...away, { ...asking(option), worked: 2, ...due } as object]
  return plays(`${option} ${name}`, scenario, [...steps, 10], 'own-answers')
}

function ownAnswers(option: Option): AnyStoreCase[] {
  const status = STATUSES[option]
  const own = { status, body: `own ${status}`, fields: { 'cache-control': 'no-store' }, errors: [] }
  const sent = { status, body: new RegExp(`"error":"${ERRORS[status as 429]}"`), errors: ['no_response'] }
  return [
    answering(option, 'sends', 'sends its own response', own),
    answering(option, 'sends later', 'may send its own response later', own),
    answering(option, 'throws', 'that throws is an error of the application', { status: 500, errors: [] }),
    answering(option, 'rejects', 'that rejects is an error of the application', { status: 500, errors: [] }),
    answering(option, 'nothing', 'that sends nothing is logged and lets no request pass', sent),
    answering(option, 'nothing later', 'that resolves without a response is logged and lets no request pass', sent),
  ]
}

/** A text or body that isn't one is logged, and the default is sent. */
function insteadOf(what: 'messages' | 'answers', failing: HttpFailing, due: object): AnyStoreCase {
  const scenario = { ...saving({}), settings: { locale: 'en' } as const, failing: { [what]: failing } }
  return plays(`a function in ${what} that ${VERBS[failing]}`, scenario, [
    ...USED_UP,
    { ...due, worked: 2 },
    { ...due, worked: 2 },
  ])
}

const VERBS: Readonly<Record<HttpFailing, string>> = {
  throws: 'throws is an error of the application',
  rejects: 'rejects is logged, and the default is sent',
  later: 'is asynchronous is logged, and the default is sent',
}

const DEFAULT = { status: 429, body: /"msg":"Reached Personal/ }

/** A function of the application that fails, in the field of a request. */
function isTheirs(field: string, script: string): AnyStoreCase {
  return plays(`${field} that ${script} is an error of the application and charges nothing`, saving({}), [
    { status: 500, headers: { [`x-${field}`]: script }, worked: 0 },
    0,
  ])
}

function failingQuietly(what: 'listeners' | 'logger', failing: 'throws' | 'rejects', errors: string[]): AnyStoreCase {
  const scenario = { ...saving({ settles: { commit: 6 } }), failing: { [what]: failing } }
  return plays(`${what} that ${failing === 'throws' ? 'throw' : 'reject'} fail no request`, scenario, [
    { status: 200, errors },
    { status: 200 },
    { status: 429, worked: 2 },
    10,
  ])
}

const ABOVE = 'commit_above_reservation'
const THEIRS = 'Error: of the application'

/** Functions of the application that throw, reject, or don't do what they should. */
export const HTTP_FUNCTION_CASES: readonly HttpCase[] = [
  ...withBothStores([
    ...ownAnswers('handler'),
    ...ownAnswers('onUnauthenticated'),
    plays(
      "handler answers refusals alone, and isn't called for anonymous requests",
      { ...saving({}), ownAnswers: { handler: 'sends' } },
      [{ status: 401, headers: ANONYMOUS, body: /"error":"unauthorized"/ }],
      'own-answers',
    ),
    insteadOf('messages', 'throws', { status: 500, errors: [] }),
    insteadOf('messages', 'rejects', DEFAULT),
    insteadOf('messages', 'later', DEFAULT),
    insteadOf('answers', 'throws', { status: 500, errors: [] }),
    insteadOf('answers', 'rejects', DEFAULT),
    insteadOf('answers', 'later', DEFAULT),
    ...['throws', 'rejects'].flatMap((script) => [
      isTheirs('plan', script),
      isTheirs('skip', script),
      isTheirs('limit', script),
    ]),
    plays('a promise of a plan is awaited', saving({}), [
      ...[200, 200, 200, 200, 429].map((status) => ({ status, headers: { 'x-plan': 'later:pro' } })),
    ]),
    plays(
      'a request brings the number of a limit, at once or later, and the counter stays',
      saving({}),
      (
        [
          ['10', 200],
          ['10', 200],
          ['14', 429],
          ['15', 200],
          ['later:19', 429],
          ['later:20', 200],
          ['null', 429],
        ] as const
      ).map(([limit, status]) => ({ status, headers: { 'x-limit': limit } })),
    ),
    ...(['throws', 'rejects', 'later'] as const).map((failing) =>
      plays(
        `isFailure that ${failing === 'later' ? 'is asynchronous' : failing} is logged, and the status decides`,
        { ...saving({ status: 400 }, { settle: 'failures' }), failing: { isFailure: failing } },
        [{ status: 400 }, 5],
      ),
    ),
    failingQuietly('listeners', 'throws', [THEIRS, ABOVE]),
    failingQuietly('listeners', 'rejects', [THEIRS, ABOVE]),
    failingQuietly('logger', 'throws', [ABOVE]),
    failingQuietly('logger', 'rejects', [ABOVE]),
  ]),
  ...ownAnswers('onUnavailable').map(
    (each): HttpCase => ({ ...each, scenario: { ...each.scenario, store: 'later' }, run: each.run }),
  ),
  plays(
    "handler answers refusals alone, and isn't called while the store is away",
    { ...saving({}), store: 'later', ownAnswers: { handler: 'sends' } },
    ['store?takes=away', { status: 503, body: /"error":"quota_unavailable"/ }],
    'own-answers',
  ),
]
