import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, describe, expect, it } from 'vitest'
import { oneLine, pages, readPage, root, type Snippet, snippetsOf } from './markdown.ts'
import type { SnippetRun } from './run-snippets.ts'

const docs = join(root, 'docs')
/** Below the documentation's own modules, so that a snippet imports what the documentation's package.json names. */
const folder = join(docs, 'node_modules', '.cache', `snippets-${process.pid}`)
const snippets = pages().flatMap(snippetsOf)

function fileOf({ page, line }: Snippet): string {
  return join(folder, `${page.replaceAll(/[^a-z0-9]+/gi, '-')}-${line}.mts`)
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
// Blank lines before the code give each line the number that it has on its page.
for (const snippet of snippets) writeFileSync(fileOf(snippet), '\n'.repeat(snippet.line - 1) + snippet.code)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function compilerOptions(): ts.CompilerOptions {
  const path = join(docs, 'tsconfig.json')
  const { tsBuildInfoFile: _, ...options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(path, ts.sys.readFile).config,
    ts.sys,
    docs,
  ).options
  return { ...options, incremental: false, noUnusedLocals: false }
}

/** Errors of the snippets themselves; the sources they import are checked elsewhere. */
function typeErrors(): string[] {
  const program = ts.createProgram(snippets.map(fileOf), compilerOptions())
  const errors = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()].map(textOf)
  const ofSnippets = snippets.flatMap((snippet) => {
    const source = program.getSourceFile(fileOf(snippet))
    const faults = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return faults.map((fault) => `${snippet.page}:${lineOf(source, fault)} ${textOf(fault)}`)
  })
  return [...errors, ...ofSnippets]
}

function textOf({ messageText }: ts.Diagnostic): string {
  return ts.flattenDiagnosticMessageText(messageText, '\n')
}

function lineOf(source: ts.SourceFile | undefined, { start = 0 }: ts.Diagnostic): number {
  return source === undefined ? 0 : source.getLineAndCharacterOfPosition(start).line + 1
}

async function runAll(run: readonly Snippet[]): Promise<SnippetRun[]> {
  const script = join(import.meta.dirname, 'run-snippets.ts')
  const args = ['--conditions=@scoregw/source', '--import=tsx', script, ...run.map(fileOf)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: docs, timeout: 30_000 })
  return JSON.parse(stdout) as SnippetRun[]
}

describe('the snippets of the documentation', () => {
  it('are all marked as TypeScript in the one way that is checked', () => {
    const others = pages().filter((page) => /^ *```(?:typescript|js|javascript|tsx)\b|^ +```ts\b/m.test(readPage(page)))
    expect(others).toEqual([])
    expect(snippets.length).toBeGreaterThan(20)
  })

  it('have no type errors', () => expect(typeErrors()).toEqual([]), 120_000)

  it('print what they say', async () => {
    const run = snippets.filter((snippet) => snippet.run)
    const runs = await runAll(run)
    const where = ({ page, line }: Snippet): string => `${page}:${line}`
    const said = run.map((snippet) => [where(snippet), snippet.expected, undefined])
    const did = run.map((snippet, index) => {
      const { logged = [], error } = runs[index] ?? {}
      return [where(snippet), logged.map(oneLine), error]
    })
    expect(did).toEqual(said)
  }, 60_000)
})
