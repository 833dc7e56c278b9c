import type { Extra } from '../extra.ts'
import { Holds } from './holds.tsx'

export const holds: Extra = { name: 'holds', pages: [], User: Holds }
