import { expect, it } from 'vitest'
import * as api from '../src/index.ts'

it('exports these values and no others', () => {
  expect(Object.keys(api).sort()).toMatchInlineSnapshot(`
    [
      "BEIJING_TIME_ZONE",
      "LOCALES",
      "MAX_LIMIT",
      "MODES",
      "QUOTA_HEADER_NAMES",
      "QuotaError",
      "beijingText",
      "createQuota",
      "defaultPolicy",
      "initialSettings",
      "isoText",
      "layerKey",
      "memorySettings",
      "memoryStore",
      "quotaExceededBody",
      "quotaHeaders",
      "quotaStatusBody",
      "rateLimitHeaders",
      "refusalHeaders",
      "refusalMessage",
      "systemClock",
    ]
  `)
})
