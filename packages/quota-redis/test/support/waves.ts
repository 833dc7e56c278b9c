/** Splits a list behind each of its members that ends a wave. */
export function wavesOf<T>(all: readonly T[], endsWave: (each: T) => boolean): T[][] {
  const waves: T[][] = [[]]
  for (const each of all) {
    waves.at(-1)!.push(each)
    if (endsWave(each)) waves.push([])
  }
  return waves.filter(({ length }) => length > 0)
}
