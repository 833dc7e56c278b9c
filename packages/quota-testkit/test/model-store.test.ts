import { describe, it } from 'vitest'
import { describeStore } from '../src/index.ts'
import { modelStore } from '../src/model/model-store.ts'
import { manualFactory } from './manual-factory.ts'

describeStore({ describe, it }, manualFactory(modelStore), 'a store that can do everything')
