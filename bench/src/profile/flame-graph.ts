import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Writes speedscope with a CPU profile in it, as a page next to the profile.
 *
 * @returns the page's path
 */
export function writeFlameGraph(profile: string): string {
  const speedscope = dirname(createRequire(import.meta.url).resolve('speedscope/package.json'))
  const page = pathToFileURL(join(speedscope, 'dist/release/index.html'))
  const data = profile.replace(/\.cpuprofile$/, '.speedscope.js')
  const bytes = readFileSync(profile).toString('base64')
  writeFileSync(data, `speedscope.loadFileFromBase64(${JSON.stringify(basename(profile))}, ${JSON.stringify(bytes)})\n`)
  page.hash = `localProfilePath=${data}`
  const file = profile.replace(/\.cpuprofile$/, '.html')
  writeFileSync(file, `<!doctype html><title>Flame graph</title><script>location = ${JSON.stringify(page)}</script>\n`)
  return file
}
