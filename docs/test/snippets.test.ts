import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { slowTests } from '@scoregw/server-kit'
import { afterAll, describe, expect, it } from 'vitest'
import { codeOf } from '../.vitepress/theme/playground/code-of.ts'
import { PRESETS } from '../.vitepress/theme/playground/presets.ts'
import type { Scenario } from '../.vitepress/theme/playground/scenario.ts'
import { oneLine, pages, readPage, root, type Snippet, snippetsOf } from './markdown.ts'
import type { SnippetRun } from './run-snippets.ts'

const docs = join(root, 'docs')
/** Below the documentation's own modules, so that a snippet imports what the documentation's package.json names. */
const folder = join(docs, 'node_modules', '.cache', `snippets-${process.pid}`)
const snippets = pages().flatMap(snippetsOf)
/** What the playground gives to copy: of its presets, and of a name that is written another way. */
const ODD: Scenario = {
  ...(PRESETS['Reads and writes'] as Scenario),
  operations: (['read', 'write'] as const).map((category) => {
    return { name: `music.list:${category}-1`, category, tokens: '', usd: '', seconds: '' }
  }),
}
const played = [...Object.values(PRESETS), ODD].map((scenario, index): Snippet => {
  return { page: `playground-${index}`, line: 1, code: codeOf(scenario), language: 'ts', run: true, expected: [] }
})

function fileOf({ page, line, language }: Snippet): string {
  return join(folder, `${page.replaceAll(/[^a-z0-9]+/gi, '-')}-${line}.${language === 'ts' ? 'mts' : 'cjs'}`)
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
// Blank lines before the code give each line the number that it has on its page.
for (const snippet of [...snippets, ...played])
  writeFileSync(fileOf(snippet), '\n'.repeat(snippet.line - 1) + snippet.code)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tsc = join(createRequire(import.meta.url).resolve('typescript-7/package.json'), '..', 'bin', 'tsc')

/** What the compiler says of the snippets and its options; the sources they import are checked elsewhere. */
async function typeErrors(): Promise<string[]> {
  const config = join(folder, 'tsconfig.json')
  const compilerOptions = { incremental: false, noUnusedLocals: false }
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(docs, 'tsconfig.json'),
      compilerOptions,
      include: [],
      files: [...snippets.filter(({ language }) => language === 'ts'), ...played].map(fileOf),
    }),
  )
  const output = await promisify(execFile)(process.execPath, [tsc, '--project', config, '--pretty', 'false'], {
    cwd: folder,
  }).then(
    () => '',
    (error: { stdout: string; stderr: string }) => `${error.stdout}${error.stderr}`,
  )
  // An error begins with its file, relative to the folder; what explains it is indented below.
  return output.split(/\n(?!\s|$)/).filter((fault) => fault !== '' && !fault.startsWith('../'))
}

/** Those that are run, and what they did: one process, which loads what they import once. */
const run = [...played, ...snippets.filter((snippet) => snippet.run)]
let runs: Promise<SnippetRun[]> | undefined

function runsOfAll(): Promise<SnippetRun[]> {
  runs ??= runAll()
  return runs
}

async function runAll(): Promise<SnippetRun[]> {
  const script = join(import.meta.dirname, 'run-snippets.ts')
  const args = ['--conditions=@scoregw/source', '--import=tsx', script, ...run.map(fileOf)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: docs, timeout: 540_000 })
  return JSON.parse(stdout) as SnippetRun[]
}

describe('snippets of the documentation', () => {
  it('every snippet is marked as checked code', () => {
    const others = pages().filter((page) =>
      /^ *```(?:typescript|cjs|javascript|tsx)\b|^ +```ts\b/m.test(readPage(page)),
    )
    expect(others).toEqual([])
    expect(snippets.length).toBeGreaterThan(20)
  })

  it('snippets are at most 72 columns wide, except for addresses', () => {
    const wide = snippets.flatMap(({ page, line, code }) =>
      code.split('\n').flatMap((text, index) => {
        return text.length > 72 && !text.includes('https://') ? [`${page}:${line + index}`] : []
      }),
    )
    expect(wide).toEqual([])
  })

  it('snippets close the connections that they open', () => {
    const closes: readonly (readonly [RegExp, RegExp])[] = [
      [/new (?:Redis|Cluster)\(/, /\.(?:quit|disconnect)\(\)/],
      [/new (?:pg\.Pool|Kysely(?:<\w+>)?)\(/, /\.(?:end|destroy)\(\)/],
    ]
    const open = snippets.filter(({ code }) => closes.some(([opens, ends]) => opens.test(code) && !ends.test(code)))
    expect(open.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  })

  it.runIf(slowTests)('snippets have no type errors', async () => expect(await typeErrors()).toEqual([]), 600_000)

  it.runIf(slowTests)(
    'snippets of the playground admit their request',
    async () => {
      const runs = (await runsOfAll()).slice(0, played.length)
      expect(runs).toEqual(played.map(() => ({ logged: ['true'] })))
    },
    600_000,
  )

  it.runIf(slowTests)(
    'snippets print what they say',
    async () => {
      const shown = run.slice(played.length)
      const done = (await runsOfAll()).slice(played.length)
      const where = ({ page, line }: Snippet): string => `${page}:${line}`
      const said = shown.map((snippet) => [where(snippet), snippet.expected, undefined])
      const did = shown.map((snippet, index) => {
        const { logged = [], error } = done[index] ?? {}
        return [where(snippet), logged.map(oneLine), error]
      })
      expect(did).toEqual(said)
    },
    600_000,
  )
})
