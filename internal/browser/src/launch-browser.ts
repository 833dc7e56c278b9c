import { type Browser, chromium } from 'playwright-core'
import { chromiumBinary } from './chromium-binary.ts'

/** Whether tests with a browser run; `BROWSER_TESTS=off` leaves them out, for `describe.runIf(browserTests)`. */
export const browserTests: boolean = process.env.BROWSER_TESTS !== 'off'

/** For containers: without a sandbox and without much shared memory; and no request that a page did not request. */
const ARGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let shared: Promise<Browser> | undefined

/** The browser of this process: started by the first call, never closed, gone with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser()
  return shared
}

/** Starts Chromium without windows, in half a second or so; gone with this process. */
export async function launchBrowser(): Promise<Browser> {
  const { path, env } = await chromiumBinary()
  return chromium.launch({ executablePath: path, args: ARGS, env: definedOnly(env) })
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
