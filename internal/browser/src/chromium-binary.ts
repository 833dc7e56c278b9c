import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram, type Program } from '@scoregw/server-kit'

const HELP =
  'No Chromium for the tests: install chromium-headless-shell or chromium, or name one in CHROMIUM_BIN. BROWSER_TESTS=off skips these tests.'

let found: Promise<Program> | undefined

/** `CHROMIUM_BIN`, else a browser on PATH, else Debian's package unpacked without root, else a clear error. */
export function chromiumBinary(): Promise<Program> {
  found ??= find()
  return found
}

async function find(): Promise<Program> {
  const program = await findProgram({
    variable: 'CHROMIUM_BIN',
    // The headless shell takes half the processor's time of the whole browser.
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    debianPackage: 'chromium-headless-shell',
    // The program itself: the one in `usr/bin` is a script that expects it in its installed place.
    packagedPath: 'usr/lib/chromium/chromium-headless-shell',
    help: HELP,
  })
  const { root, env } = program
  return root === undefined ? program : { ...program, env: { ...env, FONTCONFIG_FILE: await fontSettings(root) } }
}

/** The fonts that were unpacked with Chromium, and the machine's own. */
const FONT_SETTINGS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`

/** Writes the settings of fonts for Chromium, which ends when a machine has no font at all. */
async function fontSettings(root: string): Promise<string> {
  const path = join(root, 'fonts.conf')
  // Test processes write it at the same time: each a file of its own, moved to its place whole.
  const own = `${path}.${randomUUID()}`
  await writeFile(own, FONT_SETTINGS)
  await rename(own, path)
  return path
}
