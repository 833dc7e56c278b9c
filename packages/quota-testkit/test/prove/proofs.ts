import type { Proof } from '@scoregw/quota-histories'
import { HOLD_PROOF } from './hold-proof.ts'
import { ROW_PROOF } from './row-proof.ts'
import { SETTINGS_PROOFS } from './settings-proof.ts'
import { WINDOW_PROOF } from './window-proof.ts'

/** All machines, in the order of their run. */
export const PROOFS: readonly Proof[] = [WINDOW_PROOF, ROW_PROOF, ...SETTINGS_PROOFS, HOLD_PROOF]
