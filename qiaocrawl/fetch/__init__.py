"""Not being blocked: proxies, identities, crawl windows, signs of a block (Q3). Pure decisions.

All that hides the crawler's identity is off until the operator names a site or engine for it;
robots.txt is judged by the fixed product token whatever is named here, and no captcha is solved.
"""
