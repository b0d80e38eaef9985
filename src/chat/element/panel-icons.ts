import { drawn } from './icons.ts'

/** Pictures that only the list of conversations and the panels have. */
export const searchIcon = drawn('search', 'M11 4a7 7 0 1 0 0 14 7 7 0 1 0 0-14M16.2 16.2L20.5 20.5')
export const pinIcon = drawn('pin', 'M9 4h6l-.7 6.5L17.5 14h-11l3.2-3.5zM12 14v6.5')
