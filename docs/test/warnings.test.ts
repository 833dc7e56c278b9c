import { QUOTA_WARNING_CODES } from '@scoregw/quota/internal'
import { expect, it } from 'vitest'
import { readPage } from './markdown.ts'

it('the warnings page has a paragraph for every warning and no others', () => {
  const headings = [...readPage('docs/reference/warnings.md').matchAll(/^## ([a-z0-9_]+)$/gm)].map(([, code]) => code)
  expect(headings).toEqual([...QUOTA_WARNING_CODES, 'engine_per_request', 'no_channel_rights'])
})
