/**
 * All messages as `history`. By itself it keeps 4 000 of them, and takes minutes to let go of the
 * others.
 */
import { MESSAGES } from '../../plan.ts'
import { contents, show } from '../deep-chat-element.ts'

show({ history: contents(1, MESSAGES + 1), maxVisibleMessages: MESSAGES })
