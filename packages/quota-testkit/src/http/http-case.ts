import { deepEqual, equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { type HttpAnswer, HttpClient } from './client.ts'
import type { HttpApp } from './http-app.ts'
import type { HttpReply, HttpRoute, HttpRouteSettings, HttpScenario } from './scenario.ts'

/**
 * Optional abilities of a framework, or of its harness.
 *
 * - `address`: knows the caller's network address.
 * - `hang-ups`: detects clients that disconnect.
 * - `pipelining`: reads a request before it has answered the previous one.
 * - `pipelined-hang-ups`: detects clients that disconnect before their request is next.
 * - `http1`: speaks HTTP/1.1, so that a case can read and write bytes of its connection.
 * - `waiting`: a request may wait for another one without being aborted.
 * - `own-answers`: has the options `handler`, `onUnauthenticated` and `onUnavailable`.
 * - `time-outs`: other middleware can answer a request before its decision.
 * - `broken-streams`: detects a stream that its handler breaks, and refunds where the end settles.
 */
export type HttpCapability =
  | 'address'
  | 'hang-ups'
  | 'http1'
  | 'pipelining'
  | 'pipelined-hang-ups'
  | 'waiting'
  | 'broken-streams'
  | 'own-answers'
  | 'time-outs'

/** What a case does: steps, or a function where steps can't say it. */
type HttpPlay = readonly HttpStep[] | ((client: HttpClient) => Promise<void>)

/** A case that every adapter must pass. It throws an `AssertionError` on failure. */
export interface HttpCase {
  readonly name: string
  readonly scenario: HttpScenario
  /** The case needs all of these. See {@link without} if one is missing. */
  readonly needs: readonly HttpCapability[]
  readonly play: HttpPlay
  /** The test if a capability is missing. If absent, the case is skipped. */
  readonly without?: HttpPlay
}

/** A running app. */
export interface ServedHttpApp {
  /** Its origin, for example `http://127.0.0.1:4000`. */
  readonly url: string
  /** The app, if it runs in this process. Otherwise the suite uses {@link CONTROL_PATH}. */
  readonly app?: HttpApp
  /** Whether the app speaks HTTP/2 without TLS, as the client then does. */
  readonly isHttp2?: boolean
  stop(): void | Promise<void>
}

/** An adapter under test. */
export interface HttpHarness {
  readonly capabilities: readonly HttpCapability[]
  /**
   * Starts an app on its own address: the routes through the adapter, and {@link CONTROL_PATH} if it runs in another
   * process.
   */
  serve(scenario: HttpScenario): ServedHttpApp | Promise<ServedHttpApp>
}

/** Runs one case on a new app. */
export async function runHttpCase(testCase: HttpCase, harness: HttpHarness): Promise<void> {
  const can = testCase.needs.every((capability) => harness.capabilities.includes(capability))
  const play = can ? testCase.play : testCase.without
  if (play === undefined) return
  const served = await harness.serve(testCase.scenario)
  const client = new HttpClient(served.url, served.app, served.isHttp2)
  try {
    await (typeof play === 'function' ? play(client) : playSteps(client, play))
  } finally {
    client.close()
    await served.stop()
  }
}

/**
 * A step of a case:
 *
 * - a text: one of these, or a control command of the app. `released` waits until nothing is held, `data` until the sent
 *   request gets its first bytes, and `hang up` breaks its connection.
 * - a number: the tokens that `u1` has used by then, or those of both engines.
 * - an object: a request, or something to look at. All its members must match.
 */
export type HttpStep = string | number | readonly [number, number] | HttpSight

interface HttpSight {
  /** Sends a request to this path, and waits for its response if {@link status} is given. @default `/x` */
  readonly path?: string
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  /** Of the response. */
  readonly status?: number
  readonly body?: string | RegExp | undefined
  /** The response's body, as JSON. */
  readonly json?: unknown
  /** Some members of the response's body. */
  readonly members?: Readonly<Record<string, unknown>>
  /** Of the response; `undefined` for a field that it must not have. */
  readonly fields?: Readonly<Record<string, string | RegExp | undefined>>
  /** Sends this many requests together. So many of them get each status. */
  readonly counts?: Readonly<Record<number, number>>
  /** Starts a request without waiting. A later step has its {@link response}. */
  readonly starts?: boolean
  /** The response of the request that was started has these members. */
  readonly response?: HttpSight
  /** The request that was started has no response yet. */
  readonly isWaiting?: true
  /** Sends a request on a connection of its own, with these header lines. */
  readonly sends?: readonly string[]
  /** Sends a request whose response may break off. */
  readonly breaks?: true
  /** Open holds of `u1`. */
  readonly held?: number
  /** The tokens of other subjects. */
  readonly used?: Readonly<Record<string, number>>
  /** Waits until a control command answers so. */
  readonly until?: readonly [command: string, answer: number]
  /** Waits until limits are near. */
  readonly near?: readonly string[]
  /** Error codes that the app's logger received. All of them are listed. */
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
  /** The number of handlers that started. */
  readonly worked?: number
}

/** The headers of a request without a user. */
export const ANONYMOUS: Readonly<Record<string, string[]>> = { 'x-user': [] }

/** Far more than anything takes that a case waits for. */
const WITHIN_MS = 10_000

/** What a case has started and not finished. */
interface Pending {
  answer?: Promise<HttpAnswer>
  hasAnswer?: boolean
  socket?: Duplex
}

export async function playSteps(client: HttpClient, steps: readonly HttpStep[]): Promise<void> {
  const pending: Pending = {}
  for (const step of steps) {
    if (typeof step === 'number') equal(await client.used(), step, 'tokens used')
    else if (typeof step === 'string') await command(client, step, pending)
    else if (isOfEach(step)) deepEqual(await client.usedOfEach(), step)
    else await look(client, step, pending)
  }
}

function isOfEach(step: HttpSight | readonly [number, number]): step is readonly [number, number] {
  return Array.isArray(step)
}

function started<Started>(request: Started | undefined): Started {
  if (request === undefined) throw new TypeError('the steps before this one start no request')
  return request
}

async function command(client: HttpClient, step: string, { socket }: Pending): Promise<void> {
  if (step === 'released') await client.untilNothingIsHeld()
  else if (step === 'hang up') started(socket).destroy()
  else if (step === 'data') await once(started(socket), 'data')
  else await client.tell(step)
}

async function look(client: HttpClient, sight: HttpSight, pending: Pending): Promise<void> {
  const { path = '/x', status, counts, starts, response, isWaiting, sends, method = 'GET', headers = {} } = sight
  if (starts === true) {
    pending.hasAnswer = false
    pending.answer = client.ask(path, { method, headers }).finally(() => {
      pending.hasAnswer = true
    })
  }
  if (sends !== undefined) pending.socket = await client.send(path, sends)
  if (sight.breaks) await client.ask(path).catch(() => undefined)
  if (isWaiting) equal(pending.hasAnswer, false, 'a response arrived')
  if (response !== undefined) isAnswer(await started(pending.answer), response)
  if (status !== undefined) isAnswer(await client.ask(path, { method, headers }), sight)
  if (counts !== undefined) {
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    const answers = await Promise.all(Array.from({ length: total }, () => client.ask(path)))
    for (const [each, count] of Object.entries(counts))
      equal(answers.filter((answer) => answer.status === Number(each)).length, count, `responses with ${each}`)
  }
  await lookAtApp(client, sight)
}

function isAnswer(answer: HttpAnswer, { status, body, json, members, fields = {} }: HttpSight): void {
  equal(answer.status, status)
  if (body !== undefined) isLike(answer.body, body, 'body')
  if (json !== undefined) deepEqual(JSON.parse(answer.body ?? ''), json)
  if (members !== undefined) {
    const all = JSON.parse(answer.body ?? '') as Readonly<Record<string, unknown>>
    for (const [name, value] of Object.entries(members)) deepEqual(all[name], value, name)
  }
  for (const [name, expected] of Object.entries(fields)) isLike(answer.headers[name], expected, name)
}

async function lookAtApp(client: HttpClient, sight: HttpSight): Promise<void> {
  const { held, used = {}, until, near, errors, warnings, worked } = sight
  if (held !== undefined) equal(await client.held(), held, 'open holds')
  for (const [subject, tokens] of Object.entries(used)) equal(await client.used(subject), tokens, subject)
  if (until !== undefined) await untilAnswered(client, ...until)
  if (near !== undefined) deepEqual(await client.untilNear(), near)
  const log = await client.log()
  if (errors !== undefined) deepEqual(log.errors, errors, 'errors')
  if (warnings !== undefined) deepEqual(log.warnings, warnings, 'warnings')
  if (worked !== undefined) equal(log.worked, worked, 'handlers that started')
}

/** Polls a control command until it returns a value. Other requests complete in the meantime. */
async function untilAnswered(client: HttpClient, what: string, due: number): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  const answer = async (): Promise<unknown> => [await client.tell(what)].flat()[0]
  let seen = await answer()
  while (seen !== due && performance.now() < deadline) {
    await client.ask('/free')
    seen = await answer()
  }
  equal(seen, due, what)
}

function isLike(text: string | undefined, expected: string | RegExp | undefined, what: string): void {
  if (expected instanceof RegExp) match(text ?? '', expected, what)
  else equal(text, expected, what)
}

/** A row of a table of cases. Without a store in its scenario, it is a case for each of both kinds. */
export interface HttpRow {
  readonly on: Omit<HttpScenario, 'store'> & Partial<Pick<HttpScenario, 'store'>>
  readonly play: HttpPlay
  readonly needs?: HttpCapability | readonly HttpCapability[]
  readonly without?: HttpPlay
}

export type HttpRows = Readonly<Record<string, HttpRow>>

const STORES = [
  ['now', 'synchronous store'],
  ['later', 'asynchronous store'],
] as const

/** Makes the cases of a table by their names. */
export function httpCases(rows: HttpRows): readonly HttpCase[] {
  return Object.entries(rows).flatMap(([name, { on, needs = [], ...row }]): HttpCase[] => {
    const each = { ...row, needs: [needs].flat() }
    if (on.store !== undefined) return [{ ...each, name, scenario: { ...on, store: on.store } }]
    return STORES.map(([store, title]) => ({ ...each, name: `${name}; ${title}`, scenario: { ...on, store } }))
  })
}

/** A route at `/x` that charges 5 tokens, and an unmetered one. */
export function saving(reply: HttpReply, settings?: HttpRouteSettings): { routes: HttpRoute[] } {
  const route: HttpRoute = { path: '/x', operation: 'save', reply }
  return { routes: [settings === undefined ? route : { ...route, settings }, { path: '/free', reply: {} }] }
}

/** Requests to a {@link saving} route that leave `u1` nothing. */
export const USED_UP: readonly HttpStep[] = [{ status: 200 }, { status: 200 }]
