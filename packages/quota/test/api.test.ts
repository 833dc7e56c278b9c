import { expect, it } from 'vitest'
import * as api from '../src/index.ts'

it('the package exports these values and no others', () => {
  expect(Object.keys(api).sort()).toMatchInlineSnapshot(`
    [
      "QuotaError",
      "createQuota",
      "defaultPolicy",
      "definePolicy",
      "isSyncQuota",
      "memorySettings",
      "memoryStore",
      "quotaExceededBody",
      "quotaHeaders",
      "quotaStatusBody",
      "simpleQuota",
    ]
  `)
})
