import type { Extra } from '../extra.ts'
import { ForgetWall } from './forget-wall.tsx'

export const reset: Extra = { name: 'reset', pages: [], Wall: ForgetWall }
