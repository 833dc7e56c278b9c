import { expect, it } from 'vitest'
import * as api from '../src/index.ts'

it('exports these values and no others', () => {
  expect(Object.keys(api).sort()).toMatchInlineSnapshot(`
    [
      "ADAPTIVE_DEFAULTS",
      "BEIJING_TIME_ZONE",
      "LOCALES",
      "MAX_LIMIT",
      "MODES",
      "OUTCOMES_KEPT_MINUTES",
      "OUTCOME_COLUMNS",
      "QUOTA_HEADER_NAMES",
      "QuotaError",
      "adaptiveConstants",
      "adaptiveCounts",
      "adaptiveLaw",
      "adaptiveTicker",
      "beijingText",
      "createQuota",
      "defaultPolicy",
      "initialFactor",
      "initialSettings",
      "isoText",
      "layerKey",
      "memoryFactor",
      "memoryOutcomes",
      "memorySettings",
      "memoryStore",
      "outcomeRecorder",
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
