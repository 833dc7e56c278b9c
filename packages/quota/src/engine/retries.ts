/**
 * How often the engine calls a store again when others change what it goes by. Each bound is small, since a caller waits:
 * the settings and clocks behind it change once a second at the most, so that reaching it means a fault.
 *
 * @module
 */

/** Calls in a row whose answer is stale, since the store's clock is outside of the periods, or (of holds) the settings changed. */
export const MAX_STALE = 3

/** How often one take reads settings that had changed again when they were read. */
export const MAX_CATCH_UPS = 3

/** Writes of settings without `ifVersion` that find another writer's document: many administrators may write at once. */
export const MAX_WRITES = 10
