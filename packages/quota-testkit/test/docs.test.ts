import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CONFORMANCE_CASES } from '../src/index.ts'

const textOf = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8')
const page = textOf('../../../docs/guide/write-a-store.md')

it('the page about stores shows the tested shortest store', () => {
  expect(page).toContain(textOf('page-store.ts').trim())
})

it('the page about stores has the number of cases', () => {
  expect(page).toContain(`=> ${CONFORMANCE_CASES.length} cases passed`)
})
