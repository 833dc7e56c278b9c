import { deepEqual, equal } from 'node:assert/strict'
import { type HttpAsk, HttpClient } from './client.ts'
import type { HttpApp } from './http-app.ts'
import type { HttpScenario } from './scenario.ts'

/**
 * What a framework, or the harness around it, can do.
 *
 * - `address`: knows the network address of a caller.
 * - `hang-ups`: notices callers who leave.
 * - `pipelining`: reads a request while it answers the one before.
 * - `pipelined-hang-ups`: notices callers who leave before it is the turn of their request.
 * - `waiting`: a request may wait for what another one does, without being given up.
 * - `broken-streams`: notices a stream that its handler breaks, and gives the tokens back where the end settles.
 */
export type HttpCapability = 'address' | 'hang-ups' | 'pipelining' | 'pipelined-hang-ups' | 'waiting' | 'broken-streams'

/** One thing that every adapter has to do. Fails by throwing an `AssertionError`. */
export interface HttpCase {
  readonly name: string
  readonly scenario: HttpScenario
  /** All of them; where one is missing: see {@link without}. */
  readonly needs?: HttpCapability | readonly HttpCapability[]
  run(client: HttpClient): Promise<void>
  /** What an adapter does that lacks what the case needs; left out: the case is not for it. */
  without?(client: HttpClient): Promise<void>
}

/** An app that is served. */
export interface ServedHttpApp {
  /** Its origin, `http://127.0.0.1:4000`. */
  readonly url: string
  /** The app, where it is in this process: the suite talks to it directly, in place of {@link CONTROL_PATH}. */
  readonly app?: HttpApp
  stop(): void | Promise<void>
}

/** An adapter under test. */
export interface HttpHarness {
  readonly capabilities: readonly HttpCapability[]
  /** Serves an app on an address of its own: its routes by the adapter, and {@link CONTROL_PATH} beside them where it is in another process. */
  serve(scenario: HttpScenario): ServedHttpApp | Promise<ServedHttpApp>
}

/** Runs one case on a new app. */
export async function runHttpCase(testCase: HttpCase, harness: HttpHarness): Promise<void> {
  const { needs = [] } = testCase
  const can = [needs].flat().every((capability) => harness.capabilities.includes(capability))
  if (!can && testCase.without === undefined) return
  const served = await harness.serve(testCase.scenario)
  const client = new HttpClient(served.url, served.app)
  try {
    if (can) await testCase.run(client)
    else await testCase.without?.(client)
  } finally {
    client.close()
    await served.stop()
  }
}

/**
 * A step of a case that is written as a table: a command to the app (`released`: waits until nothing is held), the
 * tokens that `u1` has used by then, or a request at `/x` and what can be seen after it.
 */
export type HttpStep = string | number | HttpSight

/** With a status it is a request; its named members have to be so then. */
interface HttpSight extends Omit<HttpAsk, 'body'> {
  readonly path?: string
  readonly status?: number
  /** Of the answer. */
  readonly body?: string
  /** Open holds of `u1`. */
  readonly held?: number
  /** Codes that the app's logger got, all of them. */
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
  /** Handlers that began. */
  readonly worked?: number
}

export async function playSteps(client: HttpClient, steps: readonly HttpStep[]): Promise<void> {
  for (const step of steps) {
    if (step === 'released') await client.untilNothingIsHeld()
    else if (typeof step === 'string') await client.tell(step)
    else if (typeof step === 'number') equal(await client.used(), step, 'tokens used')
    else await look(client, step)
  }
}

async function look(client: HttpClient, sight: HttpSight): Promise<void> {
  const { path = '/x', status, body, held, method = 'GET', headers = {}, ...logged } = sight
  if (status !== undefined) {
    const answer = await client.ask(path, { method, headers })
    equal(answer.status, status)
    if (body !== undefined) equal(answer.body, body)
  }
  if (held !== undefined) equal(await client.held(), held, 'open holds')
  const log = await client.log()
  for (const [name, expected] of Object.entries(logged)) deepEqual(log[name as keyof typeof logged], expected, name)
}

/** A case that is a table of steps. */
export function plays<Scenario>(
  name: string,
  scenario: Scenario,
  steps: readonly HttpStep[],
  needs: HttpCase['needs'] = [],
): Omit<HttpCase, 'scenario'> & { readonly scenario: Scenario } {
  return { name, scenario, needs, run: (client) => playSteps(client, steps) }
}

/** A case whose caller leaves while the handler waits for something, and the steps after that. */
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

/** A case for both kinds of store. */
export type AnyStoreCase = Omit<HttpCase, 'scenario'> & { readonly scenario: Omit<HttpScenario, 'store'> }

const KINDS = [
  ['now', 'a store that answers at once'],
  ['later', 'a store that answers later'],
] as const

/** The same with a store that answers synchronously, and with one that answers later. */
export function withBothStores(cases: readonly AnyStoreCase[]): HttpCase[] {
  return KINDS.flatMap(([store, title]) =>
    cases.map((each) => ({ ...each, name: `${each.name}; ${title}`, scenario: { ...each.scenario, store } })),
  )
}
