import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { readPage, root } from './markdown.ts'

/** The literals of `type QuotaErrorCode`, read from its source. */
function codes(): string[] {
  const path = join(root, 'packages/quota/src/errors/quota-error.ts')
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
  const union = source.statements.find((each) => ts.isTypeAliasDeclaration(each) && each.name.text === 'QuotaErrorCode')
  if (union === undefined || !ts.isTypeAliasDeclaration(union) || !ts.isUnionTypeNode(union.type)) return []
  return union.type.types.flatMap((type) =>
    ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? [type.literal.text] : [],
  )
}

it('every error code has a heading that its address leads to, and every heading has a code', () => {
  const headings = [...readPage('docs/reference/errors.md').matchAll(/^### `([a-z_]+)`$/gm)].map(([, code]) => code)
  expect(codes().length).toBeGreaterThan(10)
  expect(headings).toEqual(codes())
})

it('every error code has a cause and a remedy', () => {
  const paragraphs = readPage('docs/reference/errors.md').split(/^### /m).slice(1)
  for (const paragraph of paragraphs) {
    expect(paragraph).toContain('**Cause.**')
    expect(paragraph).toContain('**What to do.**')
  }
})
