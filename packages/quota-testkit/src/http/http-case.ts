import { deepEqual, equal, match } from 'node:assert/strict'
import { type HttpAsk, HttpClient } from './client.ts'
import type { HttpApp } from './http-app.ts'
import type { HttpScenario } from './scenario.ts'

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

/** A case that every adapter must pass. It throws an `AssertionError` on failure. */
export interface HttpCase {
  readonly name: string
  readonly scenario: HttpScenario
  /** The case needs all of these. See {@link without} if one is missing. */
  readonly needs?: HttpCapability | readonly HttpCapability[]
  run(client: HttpClient): Promise<void>
  /** The test if a capability is missing. If absent, the case is skipped. */
  without?(client: HttpClient): Promise<void>
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
  const { needs = [] } = testCase
  const can = [needs].flat().every((capability) => harness.capabilities.includes(capability))
  if (!can && testCase.without === undefined) return
  const served = await harness.serve(testCase.scenario)
  const client = new HttpClient(served.url, served.app, served.isHttp2)
  try {
    if (can) await testCase.run(client)
    else await testCase.without?.(client)
  } finally {
    client.close()
    await served.stop()
  }
}

/**
 * A step of a case written as a table: a control command (`released` waits until nothing is held), the tokens that `u1`
 * has used by then, or a request to `/x` with what to expect.
 */
export type HttpStep = string | number | HttpSight

/** With `status`, sends a request. All members present must match. */
interface HttpSight extends Omit<HttpAsk, 'body'> {
  readonly path?: string
  readonly status?: number
  /** Of the response. */
  readonly body?: string | RegExp
  /** The response's body, as JSON. */
  readonly json?: unknown
  /** Of the response; `undefined` for a field that it must not have. */
  readonly fields?: Readonly<Record<string, string | RegExp | undefined>>
  /** Open holds of `u1`. */
  readonly held?: number
  /** Error codes that the app's logger received. All of them are listed. */
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
  /** The number of handlers that started. */
  readonly worked?: number
}

/** The headers of a request without a user. */
export const ANONYMOUS: Readonly<Record<string, string[]>> = { 'x-user': [] }

export async function playSteps(client: HttpClient, steps: readonly HttpStep[]): Promise<void> {
  for (const step of steps) {
    if (step === 'released') await client.untilNothingIsHeld()
    else if (typeof step === 'string') await client.tell(step)
    else if (typeof step === 'number') equal(await client.used(), step, 'tokens used')
    else await look(client, step)
  }
}

async function look(client: HttpClient, sight: HttpSight): Promise<void> {
  const { path = '/x', status, body, json, fields = {}, held, method = 'GET', headers = {}, ...logged } = sight
  if (status !== undefined) {
    const answer = await client.ask(path, { method, headers })
    equal(answer.status, status)
    if (body !== undefined) isLike(answer.body, body, 'body')
    if (json !== undefined) deepEqual(JSON.parse(answer.body ?? ''), json)
    for (const [name, expected] of Object.entries(fields)) isLike(answer.headers[name], expected, name)
  }
  if (held !== undefined) equal(await client.held(), held, 'open holds')
  const log = await client.log()
  for (const [name, expected] of Object.entries(logged)) deepEqual(log[name as keyof typeof logged], expected, name)
}

function isLike(text: string | undefined, expected: string | RegExp | undefined, what: string): void {
  if (expected instanceof RegExp) match(text ?? '', expected, what)
  else equal(text, expected, what)
}

/** Makes a case from a table of steps. */
export function plays<Scenario>(
  name: string,
  scenario: Scenario,
  steps: readonly HttpStep[],
  needs: HttpCase['needs'] = [],
): Omit<HttpCase, 'scenario'> & { readonly scenario: Scenario } {
  return { name, scenario, needs, run: (client) => playSteps(client, steps) }
}

/** Makes a case whose caller disconnects while the handler waits, followed by steps. */
export function leaves<Scenario>(
  name: string,
  scenario: Scenario,
  steps: readonly HttpStep[],
): Omit<HttpCase, 'scenario'> & { readonly scenario: Scenario } {
  const run = async (client: HttpClient): Promise<void> => {
    const socket = await client.send('/x')
    await client.tell('reached')
    socket.destroy()
    await playSteps(client, steps)
  }
  return { name, scenario, needs: 'hang-ups', run }
}

/** A case for both kinds of stores. */
export type AnyStoreCase = Omit<HttpCase, 'scenario'> & { readonly scenario: Omit<HttpScenario, 'store'> }

const KINDS = [
  ['now', 'synchronous store'],
  ['later', 'asynchronous store'],
] as const

/** Runs cases with a synchronous store and with an asynchronous one. */
export function withBothStores(cases: readonly AnyStoreCase[]): HttpCase[] {
  return KINDS.flatMap(([store, title]) =>
    cases.map((each) => ({ ...each, name: `${each.name}; ${title}`, scenario: { ...each.scenario, store } })),
  )
}
