/** Returns limits by name as a list, in their order. */
export function listedLimits<T extends object>(limits: Readonly<Record<string, T | undefined>>): readonly T[] {
  return Object.values(limits).filter((limit) => limit !== undefined)
}
