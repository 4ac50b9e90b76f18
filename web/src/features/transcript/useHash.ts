import { useEffect, useState } from "react";

/** What the address names behind its #, when it is opened or followed. */
export function useHash(): string {
  const [hash, setHash] = useState(window.location.hash);
  useEffect(() => {
    const look = () => setHash(window.location.hash);
    window.addEventListener("hashchange", look);
    return () => window.removeEventListener("hashchange", look);
  }, []);
  return hash;
}
