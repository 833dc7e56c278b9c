import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { readPage, root } from './markdown.ts'

/** The names that an `index.ts` exports, types included. */
function exportsOf(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest)
  return source.statements.flatMap((each) =>
    ts.isExportDeclaration(each) && each.exportClause !== undefined && ts.isNamedExports(each.exportClause)
      ? each.exportClause.elements.map(({ name }) => name.text)
      : [],
  )
}

it.each([
  ['packages/quota/src/index.ts', 'docs/reference/api.md'],
  ['packages/quota/src/store.ts', 'docs/reference/store.md'],
  ['packages/quota/src/adaptive.ts', 'docs/reference/adaptive.md'],
  ['packages/quota/src/calendar.ts', 'docs/reference/calendar.md'],
  ['packages/quota/src/otel.ts', 'docs/reference/otel.md'],
  ['packages/quota/src/prometheus.ts', 'docs/reference/prometheus.md'],
  ['packages/quota/src/score-gateway.ts', 'docs/reference/score-gateway.md'],
  ['packages/quota/src/top.ts', 'docs/reference/top.md'],
  ['packages/quota/src/waiting.ts', 'docs/reference/waiting.md'],
  ['packages/quota/src/http.ts', 'docs/reference/http.md'],
])('every export of %s is in %s once, and nothing else is', (source, page) => {
  const exported = exportsOf(source)
  expect(exported.length).toBeGreaterThan(1)
  const rows = [...readPage(page).matchAll(/^\| `([A-Za-z_0-9]+)(?:[(<][^`]*)?` +\|/gm)]
  expect(rows.map(([, name]) => name).sort()).toEqual(exported.sort())
})
