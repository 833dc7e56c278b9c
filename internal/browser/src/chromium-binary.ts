import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram, type Program } from '@scoregw/server-kit'

const HELP =
  'No Chromium for the tests: install chromium-headless-shell or chromium, or name one in CHROMIUM_BIN. BROWSER_TESTS=off skips these tests.'

let found: Promise<Program> | undefined

/**
 * Finds Chromium: `CHROMIUM_BIN`, else a headless shell on PATH, else Debian's package of it, unpacked without root, else
 * a whole browser on PATH. Throws a clear error if all fail.
 */
export function chromiumBinary(): Promise<Program> {
  found ??= find()
  return found
}

async function find(): Promise<Program> {
  const program = await findProgram({
    variable: 'CHROMIUM_BIN',
    names: ['chromium-headless-shell'],
    // The headless shell needs half the CPU time of a whole browser.
    slowerNames: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    debianPackage: 'chromium-headless-shell',
    // The program itself. The script in `usr/bin` expects it in its installed place.
    packagedPath: 'usr/lib/chromium/chromium-headless-shell',
    help: HELP,
  })
  const { root, env } = program
  return root === undefined ? program : { ...program, env: { ...env, FONTCONFIG_FILE: await fontSettings(root) } }
}

/** Uses the fonts that were unpacked with Chromium, and the machine's own. */
const FONT_SETTINGS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`

/** Writes the font settings for Chromium, which exits on a machine without fonts. */
async function fontSettings(root: string): Promise<string> {
  const path = join(root, 'fonts.conf')
  // Test processes write it concurrently: each writes its own file, and renames it.
  const own = `${path}.${randomUUID()}`
  await writeFile(own, FONT_SETTINGS)
  await rename(own, path)
  return path
}
