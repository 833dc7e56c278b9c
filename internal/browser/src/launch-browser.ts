import { type Browser, chromium } from 'playwright-core'
import { chromiumBinary } from './chromium-binary.ts'

/** Whether browser tests run, for `describe.runIf(browserTests)`. `BROWSER_TESTS=off` skips them. */
export const browserTests: boolean = process.env.BROWSER_TESTS !== 'off'

/** For containers: without a sandbox, with little shared memory, and without requests of the browser's own. */
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

/** This process's browser. The first call starts it; it ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser()
  return shared
}

/** Starts headless Chromium in about half a second. It ends with this process. */
export async function launchBrowser(): Promise<Browser> {
  const { path, env } = await chromiumBinary()
  return chromium.launch({ executablePath: path, args: ARGS, env: definedOnly(env) })
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
