/** Returns the element at an index. @throws {RangeError} without one, since that is a fault of ours */
export function nth<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index]
  if (element === undefined) throw new RangeError(`nothing is at ${index} of ${list.length}`)
  return element
}
