import { HttpClient } from './client.ts'
import type { HttpApp } from './http-app.ts'
import type { HttpScenario } from './scenario.ts'

/**
 * What a framework, or the harness around it, can do.
 *
 * - `address`: knows the network address of a caller.
 * - `hang-ups`: hears of callers who leave.
 * - `pipelining`: reads a request while it answers the one before.
 * - `waiting`: a request may wait for what another one does, without being given up.
 * - `broken-streams`: hears of a stream that its handler breaks, and gives the tokens back where the end settles.
 */
export type HttpCapability = 'address' | 'hang-ups' | 'pipelining' | 'waiting' | 'broken-streams'

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
  /** What is served, where that is in this process: the suite talks to it directly, in place of {@link CONTROL_PATH}. */
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
