import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { readPage, root } from './markdown.ts'

/** The members of `QuotaEvents`, read from its source. */
function events(): string[] {
  const path = join(root, 'packages/quota/src/engine/events.ts')
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const found = source.statements.find((each) => ts.isInterfaceDeclaration(each) && each.name.text === 'QuotaEvents')
  if (found === undefined || !ts.isInterfaceDeclaration(found)) return []
  return found.members.map(({ name }) => name?.getText() ?? '')
}

it('the list of events has a row for every event and no others', () => {
  const [, section = ''] = readPage('docs/guide/metrics.md').split(/^## Events$|^## Top subjects$/m)
  const rows = [...section.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name)
  expect(events().length).toBeGreaterThan(10)
  expect(rows.toSorted()).toEqual(events().toSorted())
})
