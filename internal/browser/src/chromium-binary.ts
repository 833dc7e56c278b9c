import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { isExecutable, pathFolders, unpackDebianPackage } from '@scoregw/server-kit'

/** A browser program and the environment that it needs. */
export interface ChromiumBinary {
  readonly path: string
  readonly env: NodeJS.ProcessEnv
}

const HELP =
  'No Chromium for the tests: install chromium, or name one in CHROMIUM_BIN. BROWSER_TESTS=off leaves these tests out.'

/** Chromium and its kin, as systems name them. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

let found: Promise<ChromiumBinary> | undefined

/** `CHROMIUM_BIN`, else a browser on PATH, else Debian's package unpacked without root, else a clear error. */
export function chromiumBinary(): Promise<ChromiumBinary> {
  found ??= find()
  return found
}

async function find(): Promise<ChromiumBinary> {
  const named = process.env.CHROMIUM_BIN
  if (named !== undefined && named !== '') {
    if (!isExecutable(named)) throw new Error(`CHROMIUM_BIN names no program: ${named}. ${HELP}`)
    return { path: named, env: process.env }
  }
  const folders = pathFolders()
  for (const name of NAMES) {
    const path = folders.map((folder) => join(folder, name)).find(isExecutable)
    if (path !== undefined) return { path, env: process.env }
  }
  try {
    return await unpacked()
  } catch (error) {
    throw new Error(HELP, { cause: error })
  }
}

async function unpacked(): Promise<ChromiumBinary> {
  const { root, env } = await unpackDebianPackage('chromium')
  // The program itself: `usr/bin/chromium` is a script that looks for it in its installed place.
  const path = join(root, 'usr/lib/chromium/chromium')
  accessSync(path, constants.X_OK)
  return { path, env }
}
