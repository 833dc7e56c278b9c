import type { IncomingMessage } from 'node:http'
import { createGunzip, type Gunzip } from 'node:zlib'
import { ByteBlocks } from './byte-blocks.ts'
import type { Share } from './byte-budget.ts'
import { JsonScanner, type ScanFault } from './json-scanner.ts'
import type { BodyLimits } from './limits.ts'

/** A body that was measured and found small enough to be parsed. */
export interface MeasuredBody {
  readonly bytes: ByteBlocks
  readonly scanner: JsonScanner
}

/** Why a body was not read to its end. */
export type ReadFault = ScanFault | 'busy' | 'aborted' | 'packing'

/**
 * Reads a body, measuring it as it arrives: from the byte on that is too much, nothing is kept
 * and nothing inflated.
 *
 * @param turn does something in the caller's next turn
 */
export function readBody(
  req: IncomingMessage,
  limits: BodyLimits,
  isPacked: boolean,
  share: Share,
  turn: (work: () => void) => void,
): Promise<MeasuredBody | ReadFault> {
  return new Promise((resolve) => {
    const bytes = new ByteBlocks()
    const scanner = new JsonScanner(limits)
    const gunzip: Gunzip | undefined = isPacked ? createGunzip() : undefined
    const source = gunzip ?? req

    let isOver = false
    const end = (result: MeasuredBody | ReadFault): void => {
      if (isOver) return
      isOver = true
      source.off('readable', come).off('end', whole)
      req.off('error', broken).off('close', broken)
      if (typeof result === 'string') {
        req.unpipe()
        gunzip?.destroy()
        // Read on and thrown away: who is still sending would not hear the answer.
        req.resume()
      }
      resolve(result)
    }
    const take = (chunk: Buffer): void => {
      const fault = scanner.push(chunk)
      if (fault !== undefined) {
        end(fault)
        return
      }
      bytes.push(chunk)
      if (!share.grow(bytes.length, scanner.elements)) end('busy')
    }
    // A part in each of the caller's turns, and meanwhile no more than a part is taken from the network.
    const come = (): void => turn(next)
    const next = (): void => {
      const chunk = isOver ? null : (source.read() as Buffer | null)
      if (chunk === null) return
      take(chunk)
      // Until nothing is left: the stream emits its end only after a read that finds it empty.
      if (!isOver) turn(next)
    }
    const whole = (): void => end({ bytes, scanner })
    // Behind its end, a packed body is still being inflated.
    const broken = (): void => {
      if (!req.readableEnded) end('aborted')
    }

    if (req.destroyed) {
      resolve('aborted')
      return
    }
    source.on('readable', come).on('end', whole)
    req.on('error', broken).on('close', broken)
    gunzip?.on('error', () => end('packing'))
    if (gunzip !== undefined) req.pipe(gunzip)
  })
}
