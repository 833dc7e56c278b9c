import { describe, it } from 'vitest'
import { describeStore } from '../src/index.ts'
import { manualFactory } from './manual-factory.ts'
import { modelStore } from './model-store.ts'

describeStore({ describe, it }, manualFactory(modelStore), 'a store that can do everything')
