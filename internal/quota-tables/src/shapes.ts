/**
 * The shapes that engines had while policies were tables. Types only.
 *
 * @module
 */
export type * from './shapes/decision.ts'
export type * from './shapes/engine.ts'
export type * from './shapes/policy.ts'
