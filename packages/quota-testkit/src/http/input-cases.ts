import { ANONYMOUS, type HttpRow, type HttpRows, type HttpStep, saving, USED_UP } from './http-case.ts'
import type { HttpFailing, HttpOwnAnswer, HttpScenario } from './scenario.ts'

const THEIRS = 'is an error of the application and charges nothing'

/** What of the application fails at a request: the fields that make it fail. */
const FAILING: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a cost that is no number': { 'x-cost': 'NaN' },
  'a negative cost': { 'x-cost': 'later:-1' },
  'a cost that throws': { 'x-cost': 'throws' },
  'a cost that rejects': { 'x-cost': 'rejects' },
  'a subject that throws': { 'x-user': 'throws' },
  'a subject that rejects': { 'x-user': 'rejects' },
  'a plan that throws': { 'x-plan': 'throws' },
  'a plan that rejects': { 'x-plan': 'rejects' },
  'a skip that throws': { 'x-skip': 'throws' },
  'a skip that rejects': { 'x-skip': 'rejects' },
  'a limit that throws': { 'x-limit': 'throws' },
  'a limit that rejects': { 'x-limit': 'rejects' },
}

const FAILURES = Object.entries(FAILING).map(([name, headers]): [string, HttpRow] => [
  `${name} ${THEIRS}`,
  { on: saving({}), play: [{ status: 500, headers, worked: 0 }, 0, { status: 200 }] },
])

const COSTS = Object.entries({ '3': 3, 'later:4': 4, '0': 0 }).map(([cost, tokens]): [string, HttpRow] => [
  `a cost of ${cost} charges ${tokens}`,
  { on: saving({}), play: [{ status: 200, headers: { 'x-cost': cost } }, tokens] },
])

const LIMITED = [
  ['10', 200],
  ['10', 200],
  ['14', 429],
  ['15', 200],
  ['later:19', 429],
  ['later:20', 200],
  ['null', 429],
] as const

const LONG = 'long'.repeat(1_500)
/** A subject that isn't a string. */
const NUMBER = { 'x-user': 'number' }

/** Valid and invalid subjects, costs, plans and limits. */
const INPUTS: HttpRows = {
  ...Object.fromEntries([...COSTS, ...FAILURES]),
  'an empty or blank subject is an anonymous request': {
    on: saving({}),
    play: [
      { status: 401, headers: { 'x-user': 'empty' }, worked: 0 },
      { status: 401, headers: { 'x-user': 'blank' }, worked: 0 },
      { status: 200 },
    ],
  },
  'a subject of any length counts, and is not refused for it': {
    on: saving({}),
    play: [
      ...[200, 200, 429].map((status) => ({ status, headers: { 'x-user': LONG } })),
      { status: 200, headers: { 'x-user': `${LONG}er` } },
    ],
  },
  'a promise of a subject is awaited': {
    on: saving({}),
    play: [{ status: 200, headers: { 'x-user': 'later:u2' }, used: { u1: 0, u2: 5 } }],
  },
  'an invalid subject is an error each time and logged once': {
    on: saving({}),
    play: [
      { status: 500, headers: NUMBER },
      { status: 500, headers: NUMBER, warnings: ['subject_not_text'] },
    ],
  },
  'a cost that never resolves charges nothing and delays no other request': {
    on: saving({}),
    needs: 'waiting',
    play: [{ sends: ['x-cost: never'] }, 'reached', { status: 200 }, 'hang up', 5],
  },
  'a promise of a plan is awaited': {
    on: saving({}),
    play: [200, 200, 200, 200, 429].map((status) => ({ status, headers: { 'x-plan': 'later:pro' } })),
  },
  'a request brings the number of a limit, at once or later, and the counter stays': {
    on: saving({}),
    play: LIMITED.map(([limit, status]) => ({ status, headers: { 'x-limit': limit } })),
  },
}

type Option = keyof NonNullable<HttpScenario['ownAnswers']>

/** Each of the application's own answers: its status, its error, and the request that it answers after two others. */
const OWN: Readonly<Record<Option, readonly [status: number, error: string, asked: HttpStep[]]>> = {
  handler: [429, 'quota_exceeded', []],
  onUnauthenticated: [401, 'unauthorized', []],
  onUnavailable: [503, 'quota_unavailable', ['store?takes=away']],
}

/** What an own answer does, and what is sent then. */
const OWN_ANSWERS: Readonly<Record<string, readonly [script: HttpOwnAnswer, sent: 'own' | 'usual' | 'error']>> = {
  'sends its own response': ['sends', 'own'],
  'may send its own response later': ['sends later', 'own'],
  'that throws is an error of the application': ['throws', 'error'],
  'that rejects is an error of the application': ['rejects', 'error'],
  'that sends nothing is logged and lets no request pass': ['nothing', 'usual'],
  'that resolves without a response is logged and lets no request pass': ['nothing later', 'usual'],
}

function ownAnswers(option: Option): [string, HttpRow][] {
  const [status, error, before] = OWN[option]
  const headers = option === 'onUnauthenticated' ? ANONYMOUS : {}
  const sights = {
    own: { status, body: `own ${status}`, fields: { 'cache-control': 'no-store' }, errors: [] },
    usual: { status, body: new RegExp(`"error":"${error}"`), errors: ['no_response'] },
    error: { status: 500, errors: [] },
  }
  // Without a store that is away, nothing is unavailable.
  const store = option === 'onUnavailable' ? { store: 'later' as const } : {}
  return Object.entries(OWN_ANSWERS).map(([name, [script, sent]]) => [
    `${option} ${name}`,
    {
      on: { ...saving({}), ...store, ownAnswers: { [option]: script } },
      needs: 'own-answers',
      play: [...USED_UP, ...before, { headers, worked: 2, ...sights[sent] }, 10],
    },
  ])
}

const VERBS: Readonly<Record<HttpFailing, string>> = {
  throws: 'throws is an error of the application',
  rejects: 'rejects is logged, and the default is sent',
  later: 'is asynchronous is logged, and the default is sent',
}

/** A text or body that isn't one is logged, and the default is sent. */
function insteadOf(what: 'messages' | 'answers'): [string, HttpRow][] {
  return (['throws', 'rejects', 'later'] as const).map((failing) => {
    const due = failing === 'throws' ? { status: 500, errors: [] } : { status: 429, body: /"msg":"Reached Personal/ }
    const on = { ...saving({}), settings: { locale: 'en' } as const, failing: { [what]: failing } }
    return [
      `a function in ${what} that ${VERBS[failing]}`,
      { on, play: [...USED_UP, { ...due, worked: 2 }, { ...due, worked: 2 }] },
    ]
  })
}

function isFailure(failing: HttpFailing): [string, HttpRow] {
  const on = { ...saving({ status: 400 }, { settle: 'failures' }), failing: { isFailure: failing } }
  const verb = failing === 'later' ? 'is asynchronous' : failing
  return [`isFailure that ${verb} is logged, and the status decides`, { on, play: [{ status: 400 }, 5] }]
}

function failingQuietly(what: 'listeners' | 'logger', failing: 'throws' | 'rejects'): [string, HttpRow] {
  const errors = [...(what === 'listeners' ? ['Error: of the application'] : []), 'commit_above_reservation']
  const on = { ...saving({ settles: { commit: 6 } }), failing: { [what]: failing } }
  const play = [{ status: 200, errors }, { status: 200 }, { status: 429, worked: 2 }, 10]
  return [`${what} that ${failing === 'throws' ? 'throw' : 'reject'} fail no request`, { on, play }]
}

/** Functions of the application that throw, reject, or don't do what they should. */
const FUNCTIONS: HttpRows = {
  ...Object.fromEntries([
    ...ownAnswers('handler'),
    ...ownAnswers('onUnauthenticated'),
    ...ownAnswers('onUnavailable'),
    ...insteadOf('messages'),
    ...insteadOf('answers'),
    ...(['throws', 'rejects', 'later'] as const).map(isFailure),
    ...(['throws', 'rejects'] as const).flatMap((failing) => [
      failingQuietly('listeners', failing),
      failingQuietly('logger', failing),
    ]),
  ]),
  "handler answers refusals alone, and isn't called for anonymous requests": {
    on: { ...saving({}), ownAnswers: { handler: 'sends' } },
    needs: 'own-answers',
    play: [{ status: 401, headers: ANONYMOUS, body: /"error":"unauthorized"/ }],
  },
  "handler answers refusals alone, and isn't called while the store is away": {
    on: { ...saving({}), store: 'later', ownAnswers: { handler: 'sends' } },
    needs: 'own-answers',
    play: ['store?takes=away', { status: 503, body: /"error":"quota_unavailable"/ }],
  },
}

/** What the application gives: subjects, costs, plans, limits, and functions. */
export const INPUT_ROWS: HttpRows = { ...INPUTS, ...FUNCTIONS }
