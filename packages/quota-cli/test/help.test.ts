import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EXIT } from '../src/cli-error.ts'
import { runCli } from './run-cli.ts'

const page = readFileSync(new URL('../../../docs/guide/cli.md', import.meta.url), 'utf8')

/** The options that a command's help names. */
async function optionsOf(command: string): Promise<string[]> {
  const { out } = await runCli([command, '--help'], { width: 200 })
  return [...out.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, name = '']) => name)
}

describe('the command line reference', () => {
  it.each(['check', 'simulate', 'top', 'doctor'])('the reference lists exactly the options of %s', async (command) => {
    const [, section = ''] = page.split(`\n## ${command}\n`)
    const [own = ''] = section.split('\n## ')
    const named = [...own.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, name = '']) => name)
    expect(named).toEqual(await optionsOf(command))
  })

  it('the reference lists every exit code with the text of --help', async () => {
    const { out } = await runCli(['--help'], { width: 200 })
    const codes = [...page.matchAll(/^\| (\d+) +\| /gm)].map(([, code]) => Number(code))
    expect(codes).toEqual([...Object.values(EXIT), 130])
    for (const code of codes) expect(out).toMatch(new RegExp(`\\b${code} [a-z]`))
  })
})
